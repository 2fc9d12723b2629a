// Measures the processor time of everything that a run starts, also of servers that outlive the process that started
// them: Linux gives those to the nearest "subreaper" among the ancestors, here to this process (prctl(2), wait4(2)).

import { dlopen, FFIType } from 'bun:ffi'
import { readFileSync } from 'node:fs'

const PR_SET_CHILD_SUBREAPER = 36
const WNOHANG = 1

interface TreeTime {
  /** Waits for processes that are ending. @returns the processor seconds of all child processes that have ended */
  read(): Promise<number>
}

/** Call it before the first child process is started. @returns undefined where the system is not Linux with glibc */
export function measureTreeTime(): TreeTime | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const { symbols } = dlopen('libc.so.6', {
      prctl: {
        args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64],
        returns: FFIType.i32,
      },
      waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
    })
    symbols.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return {
      async read() {
        // 0: there are children, and none has ended. -1: there are no children.
        for (let tries = 0; tries < 200; tries++) {
          const pid = symbols.waitpid(-1, null, WNOHANG)
          if (pid === -1) break
          if (pid === 0) await Bun.sleep(50)
        }
        // proc(5): cutime and cstime, in ticks of 10 ms.
        const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
        return (Number(fields[13]) + Number(fields[14])) / 100
      },
    }
  } catch {
    return undefined
  }
}
