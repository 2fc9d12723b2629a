// Checks the environment of this process: the versions of its parts, and the limits of the system.

import { freemem, totalmem } from 'node:os'
import { readDescriptorLimit } from '../../../http/fast-path/connection-limits.ts'
import { formatBytes } from '../../../lib/formats/format-bytes.ts'
import { readSqliteVersion } from '../../../storage/database/open-reader.ts'
import { type CheckResult, complaintsOr, ok, warning } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

export async function checkVersions({ versions }: DoctorNeeds): Promise<CheckResult[]> {
  const text = `Towpath ${versions.towpath}, Bun ${Bun.version}, SQLite ${readSqliteVersion()}`
  if (Bun.version === versions.bun) return [ok(`${text}.`)]
  return [
    warning(
      `${text}: this release was tested with Bun ${versions.bun}.`,
      'Run npm ci, which installs the version that package.json names.',
    ),
  ]
}

/** Enough for a thousand connections and the stores (http/fast-path/connection-limits.ts). */
const DESCRIPTORS_MIN = 4_096
const MEMORY_MIN = 512 * 1024 ** 2

/** Checks the limits of this process: the server, where one runs. */
export async function checkLimits(): Promise<CheckResult[]> {
  const descriptors = readDescriptorLimit()
  const found: CheckResult[] = []
  if (descriptors < DESCRIPTORS_MIN)
    found.push(
      warning(
        `The process may open only ${descriptors} files and connections.`,
        'Raise the limit: LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536.',
      ),
    )
  if (totalmem() < MEMORY_MIN)
    found.push(
      warning(
        `The machine has ${formatBytes(totalmem())} of memory.`,
        'Give it at least 512 MB, or long questions fail.',
      ),
    )
  return complaintsOr(
    found,
    `${descriptors} files and connections, ${formatBytes(totalmem())} of memory (${formatBytes(freemem())} free).`,
  )
}
