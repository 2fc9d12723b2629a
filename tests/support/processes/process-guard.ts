// Ends a process and removes its directory when the test run ends, even after a crash.

export interface ProcessGuard {
  /** Sets the process to end; undefined for none. */
  watch(pid: number | undefined): void
  /** Ends the process and removes the directory now. */
  end(): Promise<void>
}

/**
 * Starts a shell that reads its input to the end. The input ends when this process ends, even after SIGKILL; `bun test`
 * fires no `exit` event. The shell then sends SIGQUIT to the watched process and removes the directory.
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
    // A new session: a signal to the process group of the test run must not end the guard.
    detached: true,
  })
  shell.unref()
  return {
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
