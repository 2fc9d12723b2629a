// Sees to it that nothing a test run started outlives it.

export interface ProcessGuard {
  /** The process to end, if there is one at the moment. */
  watch(pid: number | undefined): void
  /** Does at once what it would do at the end of this process. */
  end(): Promise<void>
}

/**
 * A shell that waits for the end of its input, which comes when this process ends, however it ends: `bun test` fires
 * no `exit` event, and nothing at all runs after SIGKILL. Then it sends SIGQUIT and removes the directory.
 */
export function createProcessGuard(dir: string): ProcessGuard {
  const script = `
    trap '' HUP INT TERM
    pid=
    while read -r line; do pid=$line; done
    if [ -n "$pid" ] && kill -QUIT "$pid"; then
      tries=0
      while kill -0 "$pid" && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
      kill -KILL "$pid"
    fi
    tries=0
    until rm -rf "$1" || [ $tries -ge 50 ]; do sleep 0.1; tries=$((tries + 1)); done`
  const shell = Bun.spawn(['sh', '-c', script, 'sh', dir], {
    cwd: '/',
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    // A session of its own: a signal to the test run's whole process group must not take the guard along.
    detached: true,
  })
  shell.unref()
  return {
    /** The process to end, if there is one at the moment. */
    watch(pid) {
      shell.stdin.write(`${pid ?? ''}\n`)
      shell.stdin.flush()
    },
    async end() {
      shell.stdin.end()
      await shell.exited
    },
  }
}
