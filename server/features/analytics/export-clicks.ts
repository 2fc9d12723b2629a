// Exports clicks to a file: takes the names of links from the database, and lets the hit engine sort and write.

import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { createExportLimiter } from '../../lib/concurrency/export-limiter.ts'
import { Failure, unavailable } from '../../lib/failure.ts'
import { createExportDirectory } from '../../storage/export-directory.ts'
import type { ExportFormat, HitReader, HitSelection } from '../../storage/hits/hit-engine.ts'
import { resolveClickSelection } from './answer-clicks.ts'
import { listKeptParams } from './kept-params.ts'
import type { AnswerContext, WorkspaceScope } from './resolve-selection.ts'
import type { ClickSelection } from './schema.ts'

/** Reading this many links holds up redirects for 3 ms. */
const LINKS_AT_ONCE = 500

export interface ExportContext extends AnswerContext {
  hits: HitReader
  /** The directory for exports (storage/export-directory.ts). */
  scratchDir: string
  limiter: ReturnType<typeof createExportLimiter>
}

export interface ClickFile {
  path: string
  bytes: number
  selection: HitSelection
  /** Call it after the file is sent, or when the client is gone. */
  remove(): Promise<void>
}

/**
 * Deleted links keep their names in the export.
 * @param signal aborts when the client has gone
 * @throws Failure `invalid` for an empty range; `unavailable` when the engine is down, the disk is full or no place is
 * free
 */
export async function exportClicks(
  needs: ExportContext,
  actor: WorkspaceScope,
  { format, ...clicks }: ClickSelection & { format: ExportFormat },
  signal: AbortSignal,
): Promise<ClickFile> {
  const selection = await resolveClickSelection(needs, actor, clicks)
  return needs.limiter.run(actor.workspaceId, signal, async () => {
    let directory: Awaited<ReturnType<typeof createExportDirectory>> | undefined
    try {
      directory = await createExportDirectory(needs.scratchDir)
      const { path: dir, remove } = directory
      const links = await writeLinkNames(needs, actor, join(dir, 'links'), signal)
      const params = await listKeptParams(needs, actor)
      const file = await needs.hits.export({ selection, format, dir, links, params }, signal)
      return { ...file, selection, remove }
    } catch (error) {
      await directory?.remove()
      // The most likely cause is a full disk. A retry may succeed, so every error becomes `unavailable`.
      throw error instanceof Failure ? error : unavailable(error)
    }
  })
}

/**
 * Writes all links of the workspace, deleted ones too. Reads LINKS_AT_ONCE at a time, so that redirects run in between.
 */
async function writeLinkNames(
  { db, defaultDomain }: ExportContext,
  { workspaceId }: WorkspaceScope,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const file = await open(path, 'wx', 0o600)
  try {
    for (let lastId = 0; ; ) {
      signal.throwIfAborted()
      const links = await db.read
        .selectFrom('links')
        .select(['id', 'slug', 'domain'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '>', lastId)
        .orderBy('id')
        .limit(LINKS_AT_ONCE)
        .execute()
      const lines = links.map(({ domain, ...link }) =>
        JSON.stringify({ ...link, domain: domain || defaultDomain }),
      )
      await file.writeFile(lines.map((line) => `${line}\n`).join(''))
      if (links.length < LINKS_AT_ONCE) return path
      lastId = links.at(-1)?.id as number
    }
  } finally {
    await file.close()
  }
}
