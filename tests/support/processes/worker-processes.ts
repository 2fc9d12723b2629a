// Lists the hit workers that a process has started. Works on Linux only, because it reads /proc.

import { readdirSync, readFileSync } from 'node:fs'

/** @returns the process ids of the hit workers whose parent is `pid` */
export const listWorkerProcesses = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isWorkerOf(name, pid))
    .map(Number)

function isWorkerOf(name: string, pid: number): boolean {
  try {
    const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]
    return (
      Number(parent) === pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('hits/worker/main.ts')
    )
  } catch {
    return false // the process has ended meanwhile
  }
}
