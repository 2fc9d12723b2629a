// The processor time of another process, which tells what a request costs on a machine that does other work besides.

import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds that a process's threads have had (Linux: Documentation/scheduler/sched-stats.rst). */
export function readProcessorTime(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).reduce(
    (sum, id) => sum + Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0]),
    0,
  )
}
