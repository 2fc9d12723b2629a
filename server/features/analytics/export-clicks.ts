// The clicks themselves, as a file: links are named from the rows, the engine sorts and writes.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, unavailable } from '../../lib/failure.ts'
import type { Database } from '../../storage/database/database.ts'
import type { ExportFormat, HitReader, HitSelection } from '../../storage/hits/hit-engine.ts'
import type { Actor } from '../accounts/access/actor.ts'
import { resolveClickSelection } from './answer-clicks.ts'
import { createExportDirectory } from './export-directory.ts'
import type { createExportLimiter } from './export-limiter.ts'
import type { ClickSelection } from './schema.ts'

/** Reading so many links holds up redirects for 3 ms. */
const LINKS_AT_ONCE = 500

export interface ExportNeeds {
  db: Pick<Database, 'read'>
  hits: Pick<HitReader, 'export'>
  now: () => number
  /** What links of the default domain (stored as '') are shown under. */
  defaultDomain: string
  /** See export-directory.ts. */
  scratchDir: string
  limiter: ReturnType<typeof createExportLimiter>
}

export interface ClickFile {
  path: string
  bytes: number
  selection: HitSelection
  /** To be called when it is sent, or nobody wants it any more. */
  remove(): Promise<void>
}

type Asker = Pick<Actor, 'workspaceId'>

/**
 * Deleted links keep their names.
 * @param signal whoever asked has gone. @throws `invalid` for an empty range, `unavailable` for want of engine, disk or place
 */
export async function exportClicks(
  needs: ExportNeeds,
  actor: Asker,
  { format, ...asked }: ClickSelection & { format: ExportFormat },
  signal: AbortSignal,
): Promise<ClickFile> {
  const selection = await resolveClickSelection(needs, actor, asked)
  return needs.limiter.use(actor.workspaceId, signal, async () => {
    let directory: Awaited<ReturnType<typeof createExportDirectory>> | undefined
    try {
      directory = await createExportDirectory(needs.scratchDir)
      const { path: dir, remove } = directory
      const links = await writeLinkNames(needs, actor, join(dir, 'links'), signal)
      const file = await needs.hits.export({ selection, format, dir, links }, signal)
      return { ...file, selection, remove }
    } catch (error) {
      await directory?.remove()
      // A full disk, most likely. Whatever it is, another try may find it gone.
      throw error instanceof Failure ? error : unavailable(error)
    }
  })
}

/** Every link the workspace has or had, a few at a time so that redirects pass in between. */
async function writeLinkNames(
  { db, defaultDomain }: ExportNeeds,
  { workspaceId }: Asker,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (let last = 0; ; ) {
      signal.throwIfAborted()
      const links = await db.read
        .selectFrom('links')
        .select(['id', 'slug', 'domain'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '>', last)
        .orderBy('id')
        .limit(LINKS_AT_ONCE)
        .execute()
      const lines = links.map(({ domain, ...link }) =>
        JSON.stringify({ ...link, domain: domain || defaultDomain }),
      )
      await file.writeFile(lines.map((line) => `${line}\n`).join(''))
      if (links.length < LINKS_AT_ONCE) return path
      last = links.at(-1)?.id as number
    }
  } finally {
    await file.close()
  }
}
