"""What an operator would write for nginx, HAProxy and Turnpike who wants them fast and correct for this traffic."""

NGINX = """\
worker_processes {workers};
worker_rlimit_nofile 20000;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/nginx.err crit;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    client_body_buffer_size 2m;  # a body that is held stays in memory, as with Turnpike
    client_max_body_size 64m;
    keepalive_requests 100000000;
    keepalive_timeout 75s;
    tcp_nodelay on;
    upstream provider {{
        {servers}
        keepalive 1024;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{port} {front} backlog=8192 {reuseport};
        {certificate}
        location / {{
            proxy_pass {scheme}://provider;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_read_timeout 300s;
            {retry}
        }}
    }}
    server {{
        listen 127.0.0.1:{stream_port} backlog=8192 {reuseport};
        location / {{
            proxy_pass http://provider;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_read_timeout 300s;
            proxy_buffering off;
        }}
    }}
}}
"""
# A model call is a POST, and a failed server is not asked twice for one request: so the one server stands there
# three times, and is never left alone.
NGINX_RETRY = "proxy_next_upstream error timeout http_503 non_idempotent; proxy_next_upstream_tries 3;"

HAPROXY = """\
global
    nbthread {workers}
    maxconn 9000
defaults
    mode http
    no option http-server-close
    http-reuse always
    timeout connect 10s
    timeout client 300s
    timeout server 300s
    timeout http-keep-alive 75s
frontend clients
    bind 127.0.0.1:{port} backlog 8192 {front}
    default_backend provider
backend provider
    {retry}
    server one 127.0.0.1:{upstream} {back}
frontend stream_clients
    bind 127.0.0.1:{stream_port} backlog 8192
    option http-no-delay
    default_backend stream_provider
backend stream_provider
    option http-no-delay  # without it an event waits for the next one
    server one 127.0.0.1:{upstream}
"""
HAPROXY_RETRY = "retry-on 503\n    retries 2"

TURNPIKE = """\
workers: {workers}
listen: {{ address: "127.0.0.1:{port}", tls: {{ {front} }} }}
providers:
  main:
    url: {scheme}://127.0.0.1:{upstream}/v1
    tls: {{ {back} }}
    keepalive: {{ max: 1024 }}
log: {{ level: warn, output: {dir}/turnpike.log }}
state: {{ name: {state} }}
"""

# Plain text in, TLS out and the reverse: load and provider speak none, and what it costs is not counted.
SHIM = """\
global
    nbthread 1
    maxconn 8192
defaults
    mode tcp
    timeout connect 10s
    timeout client 300s
    timeout server 300s
"""
