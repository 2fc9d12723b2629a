// The operator's list of hosts that no link may lead to (`DESTINATION_BLOCKLIST`). A job reloads the file when it has
// changed. A file that cannot be read keeps the list before it.

import { stat } from 'node:fs/promises'
import type { Metric } from '../../../http/health-and-metrics.ts'
import { log } from '../../../lib/log.ts'
import { toHostName } from './parse-line.ts'
import { BlocklistError, type BlocklistFile, readBlocklist } from './read-blocklist.ts'

export interface Blocklist {
  /** Counts the lists that were loaded; 0 while there is none. */
  version(): number
  /** True where the URL's host, or a host above it, is on the list. */
  isBlocked(url: URL): boolean
  /** Loads the file when it has changed since, and is whole. Never throws. */
  reload(): Promise<void>
  metrics(): Metric[]
}

/** @throws Error with a sentence for the operator */
export async function createBlocklist(path: string | undefined): Promise<Blocklist> {
  let list: BlocklistFile | undefined
  let version = 0
  let failed = false
  /** The state of the file that was loaded or refused last. */
  let handled: string | undefined
  /** The state of the file at the last look. */
  let seen: string | undefined

  function use(loaded: BlocklistFile): void {
    list = loaded
    version++
    failed = false
    const { hosts, unreadable, firstUnreadable } = loaded
    log.info('blocklist_loaded', { hosts: hosts.size() })
    if (unreadable > 0)
      log.warn('blocklist_has_unreadable_lines', { lines: unreadable, first: firstUnreadable })
  }

  if (path !== undefined) {
    try {
      handled = await readState(path)
      use(await readBlocklist(path))
    } catch (error) {
      throw new Error(`DESTINATION_BLOCKLIST: ${path} ${explain(error)}. Correct the file, or leave it out.`)
    }
  }

  return {
    version: () => version,
    isBlocked: (url) => list !== undefined && hasHost(list, toHostName(url)),
    async reload() {
      if (path === undefined) return
      const state = await readState(path).catch(explain)
      // Reads only a file that is unchanged since the last look, because a program may still be writing it.
      const stable = state === seen
      seen = state
      if (state === handled || !stable) return
      handled = state
      try {
        use(await readChangedFile(path, state))
      } catch (error) {
        failed = true
        log.error('blocklist_not_reloaded', { path, reason: explain(error) })
      }
    },
    metrics: () => (path === undefined ? [] : toMetrics(list?.hosts.size() ?? 0, failed)),
  }
}

async function readChangedFile(path: string, state: string): Promise<BlocklistFile> {
  // A download that failed often leaves an empty file behind.
  if (state.endsWith(EMPTY)) throw new BlocklistError('is empty')
  const file = await readBlocklist(path)
  if ((await readState(path)) !== state) throw new BlocklistError('changed while it was read')
  return file
}

const EMPTY = ' 0 bytes'

/** Changes when the file is written or replaced. */
async function readState(path: string): Promise<string> {
  const file = await stat(path)
  if (!file.isFile()) throw new BlocklistError('is not a file')
  return `${file.ino} ${file.mtimeMs} ${file.size} bytes`
}

const explain = (error: unknown) =>
  error instanceof BlocklistError
    ? error.message
    : `cannot be read (${error instanceof Error ? error.message : error})`

const toMetrics = (hosts: number, failed: boolean): Metric[] => [
  {
    name: 'towpath_blocklist_hosts',
    kind: 'gauge',
    help: 'Hosts that no link may lead to',
    value: hosts,
  },
  {
    name: 'towpath_blocklist_reload_failed',
    kind: 'gauge',
    help: 'Whether the file of blocked hosts has changed and cannot be used',
    value: Number(failed),
  },
]

/** Looks for the host and each host above it. */
function hasHost({ hosts }: BlocklistFile, host: string): boolean {
  for (let name = host; name !== ''; ) {
    if (hosts.has(name)) return true
    const dot = name.indexOf('.')
    if (dot < 0) return false
    name = name.slice(dot + 1)
  }
  return false
}
