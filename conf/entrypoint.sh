#!/bin/sh
# The image's entry point: `docker run image [conf-file] [--name value ...]`. A command that was written for Redis's or
# Valkey's image begins with the name of their program, which is left out.
case $1 in
  redis-server | valkey-server | mayfly) shift ;;
esac
# A restart begins with the keys of the last one: they are saved to the volume once an hour if clients have written, and when
# the container is stopped. `--save ""` turns this off, and a conf file says it all itself. A cache whose disk is full goes on.
case $1 in
  '' | --*)
    [ -n "${MAYFLY_SAVE_FILE+set}" ] || export MAYFLY_SAVE="${MAYFLY_SAVE-3600 1}"
    export MAYFLY_STOP_WRITES_ON_BGSAVE_ERROR="${MAYFLY_STOP_WRITES_ON_BGSAVE_ERROR-no}"
    ;;
esac
exec mayfly "$@"
