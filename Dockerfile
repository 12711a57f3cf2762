# docker build -t mayfly . && docker run -p 6379:6379 mayfly [conf-file] [--name value ...]
FROM debian:bookworm AS build
WORKDIR /mayfly
# First the package lists alone, so that this layer is rebuilt only when they change.
COPY scripts/install-packages scripts/install-packages
COPY scripts/packages/ scripts/packages/
RUN scripts/install-packages build
COPY CMakeLists.txt ./
COPY src/ src/
COPY tests/sim/ tests/sim/
COPY tests/support/ tests/support/
COPY tests/training/ tests/training/
RUN cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    && cmake --build build \
    && cmake --install build --prefix /usr/local --strip

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libboost-context1.74.0 libjemalloc2 liblua5.1-0 liblzf1 libssl3 libuv1 \
    && rm -rf /var/lib/apt/lists/* \
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
