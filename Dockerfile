# A crawl in a container: docs/container.md. `docker build -t dedup .`
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/dedup \
    && /opt/dedup/bin/pip install --no-cache-dir --no-compile '.[postgresql,parquet,warc]' \
    && /opt/dedup/bin/pip uninstall --yes pip

FROM python:3.13-slim
COPY --from=build /opt/dedup /opt/dedup
RUN useradd --uid 10001 --create-home crawler && mkdir /data && chown crawler /data
ENV PATH=/opt/dedup/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGINT
ENTRYPOINT ["dedup"]
