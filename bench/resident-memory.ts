// Reads the resident memory of a server and of the hit worker that it may have started.

import { readFileSync } from 'node:fs'
import { listWorkerProcesses } from '../tests/support/processes/worker-processes.ts'

export interface ResidentMemory {
  /** MB. */
  server: number
  /** MB; 0 while there is no worker. */
  worker: number
}

export function readResidentMemory(pid: number): ResidentMemory {
  const [worker] = listWorkerProcesses(pid)
  return { server: residentMb(pid), worker: worker === undefined ? 0 : residentMb(worker) }
}

function residentMb(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}
