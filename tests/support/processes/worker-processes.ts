// Lists the child processes that a server has started. Works on Linux only, because it reads /proc.

import { readdirSync, readFileSync } from 'node:fs'

/** @returns the process ids of the hit workers whose parent is `pid` */
export const listWorkerProcesses = (pid: number): number[] => listChildren(pid, 'hits/worker/main.ts')

/** @returns the process ids of those that read files of imports for `pid` */
export const listReaderProcesses = (pid: number): number[] => listChildren(pid, 'transfer/reader/main.ts')

const listChildren = (pid: number, script: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChildOf(name, pid, script))
    .map(Number)

function isChildOf(name: string, pid: number, script: string): boolean {
  try {
    const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]
    return Number(parent) === pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(script)
  } catch {
    return false // the process has ended meanwhile
  }
}
