/* A fuzz target without libFuzzer: runs it over the files and folders that are named, one after the other. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	if (f == NULL || fstat(fileno(f), &st) != 0) {
		perror(path);
		return 1;
	}
	/* Just as large as the input: a step beside it is seen. */
	size_t size = (size_t)st.st_size, n;
	uint8_t *data = malloc(size > 0 ? size : 1);
	if (data == NULL)
		return 1;
	n = fread(data, 1, size, f);
	(void)fclose(f);
	if (n == size)
		(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
	inputs++;
	return n == size ? 0 : 1;
}

static int run_folder(const char *folder)
{
	struct dirent **names;
	int n = scandir(folder, &names, NULL, alphasort), failed = 0;
	if (n < 0)
		return run_file(folder);
	for (int i = 0; i < n; i++) {
		char path[4096];
		if (names[i]->d_name[0] != '.') {
			(void)snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
			failed |= run_file(path);
		}
		free(names[i]);
	}
	free(names);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed |= run_folder(argv[i]);
	if (inputs == 0)
		(void)fprintf(stderr, "%s: no input\n", argv[0]);
	return failed != 0 || inputs == 0;
}
