# The commands of instructors need these besides the packages of `kit`, which sources this file.
# Packages that only some commands need: grading must not wait for them.
# shellcheck shell=bash

check_packages=(clang clang-runtime gdb)
# The load generator speaks to etcd by gRPC. The server itself is fetched when it is needed.
etcd_packages=(libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc pkg-config)
# redis-benchmark and redis-cli, and the packages that a Redis server needs: the
# server itself is fetched, too.
redis_packages=(redis-tools)

# The compilers for students' other processors (failslow/extras/release/processors.py).
cross_packages() { # prints packages, one a line
  [ "$(uname -m)" = x86_64 ] || echo g++-x86-64-linux-gnu
  [ "$(uname -m)" = aarch64 ] || echo g++-aarch64-linux-gnu
}

more_packages() { # kit command, its arguments...; prints packages, one a line
  case "$*" in
    check*) printf '%s\n' "${check_packages[@]}" "${redis_packages[@]}" ;;
    bench*--versus*etcd*) printf '%s\n' "${etcd_packages[@]}" ;;
  esac
  case "$*" in
    'release students'* | 'release image'*) cross_packages ;;
  esac
  case "$*" in
    bench | 'bench -'* | 'bench kv'* | faults*systems/redis.yaml*) printf '%s\n' "${redis_packages[@]}" ;;
  esac
}

extras_of() { # kit command, its arguments...; prints the names of requirements-NAME.txt
  case "$*" in
    site*) echo site ;;
    'release students'*) echo site parse ;;
    'release image'*) echo parse ;;
    check*) echo lint site browser batch redis parse similar ;;
    grade*--on*) echo batch ;;
    similar*) echo similar ;;
  esac
}
