#!/bin/sh
# The image's entry point: `docker run image [conf-file] [--name value ...]`. A command that was written for Redis's or
# Valkey's image begins with the name of their program, which is left out.
case $1 in
  redis-server | valkey-server | mayfly) shift ;;
esac
exec mayfly "$@"
