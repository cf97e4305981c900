# The tools of the kit, for students on macOS and Windows. The checkout is mounted, not copied:
#
#   docker build --target tools --file tools/containers/dev.Dockerfile --tag failslow-dev .
#   docker run --interactive --tty --rm --volume "$PWD:/workspaces/kit" failslow-dev
#
# .devcontainer/ is the same for an editor. `./kit release image` builds the last stage, too.
FROM debian:bookworm-slim AS tools
COPY kit /tmp/kit/
COPY autograder/requirements.txt /tmp/kit/autograder/
RUN /tmp/kit/kit install \
  && apt-get install -y --no-install-recommends \
    bash-completion ccache clangd gdb git less redis-tools sudo vim-tiny \
  && rm -rf /tmp/kit /var/lib/apt/lists/* /var/cache/apt/*.bin \
  && useradd --uid 1000 --user-group --create-home --shell /bin/bash student \
  && echo 'student ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/student \
  && install --directory --owner=student --group=student /workspaces /workspaces/kit
USER student
WORKDIR /workspaces/kit
CMD ["bash"]

# A fresh clone is newer than any object, so a build directory from here would be built anew. The
# compiler's results are found by contents instead, from any directory in /workspaces. `locale`:
# messages in another language are other results without it.
# Submissions are compiled without: a grade's sandbox lets ccache write nothing.
FROM tools AS prebuilt
ENV CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=/workspaces CCACHE_NOHASHDIR=1 \
  CCACHE_SLOPPINESS=pch_defines,time_macros,locale CCACHE_MAXSIZE=2G
COPY --chown=student:student . .
# The tests of a starter fail: exit code 1. Whatever they do not need is built at the end.
RUN for lab in $(sed -n 's/^id: //p' labs/*/lab.yaml); do \
    ./kit test "$lab" >/dev/null || test $? = 1 || exit; \
  done \
  && cmake --build --preset release \
  && find . -mindepth 1 -delete && ccache --zero-stats
