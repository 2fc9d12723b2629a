// What a server holds in memory: the process itself, and the ship worker that it may have started.

import { readdirSync, readFileSync } from 'node:fs'

export interface Resident {
  /** MB. */
  server: number
  /** MB; 0 while there is none. */
  worker: number
}

export function residentOf(pid: number): Resident {
  const worker = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isWorkerOf(name, pid))
  return { server: residentMb(pid), worker: worker === undefined ? 0 : residentMb(Number(worker)) }
}

function isWorkerOf(name: string, pid: number): boolean {
  try {
    const parent = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]
    return Number(parent) === pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('ship-worker')
  } catch {
    return false // it has ended meanwhile
  }
}

function residentMb(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}
