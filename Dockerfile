# overruler serve, for a club's own machine; docs/install.md says how to build and start it.
# OpenCV's headless wheel takes the place of the usual one: it needs no system library.
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python3 -m venv /opt/overruler \
    && /opt/overruler/bin/pip install --no-cache-dir "/build[web,heic,print]" \
    && /opt/overruler/bin/pip uninstall --yes opencv-python \
    && /opt/overruler/bin/pip install --no-cache-dir "opencv-python-headless>=4.13,!=4.13.0.90,<6"

FROM python:3.11-slim-bookworm
LABEL org.opencontainers.image.title="overruler" \
      org.opencontainers.image.description="Photos of a miniatures table in, rulings and their doubt out" \
      org.opencontainers.image.licenses="MIT AND OFL-1.1"
COPY --from=build /opt/overruler /opt/overruler
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin overruler \
    && install --directory --owner=overruler --group=overruler /data
ENV PATH=/opt/overruler/bin:$PATH PYTHONUNBUFFERED=1 OVERRULER_CONFIG=
USER overruler
WORKDIR /data
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8321/api/health', timeout=4)"]
ENTRYPOINT ["overruler"]
CMD ["serve", "--host", "0.0.0.0", "--store", "/data/server"]
