// The machine and directory of a node: they tell a node that starts again after a crash from a copy of its directory on
// another machine.

import { readFileSync, statSync } from 'node:fs'

/** Linux makes a new one at each start of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/**
 * Two processes with the same place have the same directory, and its lock says that only one of them runs. A copy has
 * another place, also when it is a copy of the whole machine.
 * @returns undefined where the system does not tell
 */
export function readPlace(dir: string): string | undefined {
  try {
    const { dev, ino } = statSync(dir, { bigint: true })
    return `${readFileSync(BOOT_ID, 'utf8').trim()} ${dev} ${ino}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}
