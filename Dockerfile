# docker build -t mayfly . && docker run -p 6379:6379 mayfly [conf-file] [--name value ...]
FROM debian:bookworm AS build
WORKDIR /mayfly
# First the package lists alone, so that this layer is rebuilt only when they change.
COPY scripts/install-packages scripts/runtime-packages scripts/
COPY scripts/packages/ scripts/packages/
RUN scripts/install-packages build
COPY CMakeLists.txt ./
COPY src/ src/
COPY tests/sim/ tests/sim/
COPY tests/support/ tests/support/
COPY tests/training/ tests/training/
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    && cmake --build build \
    && cmake --install build --prefix /usr/local --strip \
    && scripts/runtime-packages build/mayfly > build/runtime-packages

FROM debian:bookworm-slim
COPY --from=build /mayfly/build/runtime-packages /tmp/
RUN apt-get update \
    && xargs apt-get install -y --no-install-recommends < /tmp/runtime-packages \
    && rm -f /tmp/runtime-packages && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 999 mayfly \
    && useradd --system --uid 999 --gid mayfly --home-dir /data --no-create-home --shell /usr/sbin/nologin mayfly \
    && install -d -o mayfly -g mayfly /data
COPY --from=build /usr/local/bin/mayfly /usr/local/bin/mayfly
COPY conf/entrypoint.sh /usr/local/bin/mayfly-entrypoint
COPY LICENSE /usr/share/doc/mayfly/copyright

# As in Redis's image, the container's network decides who may connect. -e MAYFLY_PROTECTED_MODE=yes serves only
# clients within the container, unless a password is set.
ENV MAYFLY_PROTECTED_MODE=no
# The keys are saved here: see conf/entrypoint.sh.
VOLUME /data
# The working directory is the volume.
WORKDIR /data
# With -e MAYFLY_METRICS_PORT=9121 -e 'MAYFLY_METRICS_BIND=* -::*', the metrics port is for the container's network, too.
EXPOSE 6379 9121
USER mayfly
# The daemon is healthy if it answers; without its password any answer will do. --ping reads the MAYFLY_ variables as the
# daemon does. If a command line or a conf file sets the port, the container needs a --health-cmd with the same words, as
# "mayfly --ping /data/my.conf".
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["mayfly", "--ping", "--any-answer"]
ENTRYPOINT ["mayfly-entrypoint"]
