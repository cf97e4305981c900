# The tools of the kit, for students on macOS and Windows. The checkout is mounted, not copied:
#
#   docker build --file tools/containers/dev.Dockerfile --tag failslow-dev .
#   docker run --interactive --tty --rm --volume "$PWD:$PWD" --workdir "$PWD" failslow-dev
#
# .devcontainer/ is the same for an editor.
FROM debian:bookworm-slim
COPY kit /tmp/kit/
COPY autograder/requirements.txt /tmp/kit/autograder/
RUN /tmp/kit/kit install \
  && apt-get install -y --no-install-recommends bash-completion clangd gdb git less redis-tools sudo vim-tiny \
  && rm -rf /tmp/kit /var/lib/apt/lists/* /var/cache/apt/*.bin \
  && useradd --uid 1000 --user-group --create-home --shell /bin/bash student \
  && echo 'student ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/student
USER student
CMD ["bash"]
