def compare(bench):
    pass
