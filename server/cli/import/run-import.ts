// Runs `towpath import`: puts the files into the data directory and a row into the database, where the server finds
// them. Without a server, this process runs the jobs itself until the import has ended.

import type { Config } from '../../config/config.ts'
import type { Actor } from '../../features/accounts/access/actor.ts'
import { ensureNodeId } from '../../features/hits/spool/node-id.ts'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import { type CreateNeeds, createImport } from '../../features/transfer/import/create-import.ts'
import { deleteImport } from '../../features/transfer/import/delete-import.ts'
import { getImport } from '../../features/transfer/import/find-imports.ts'
import { isOpen, toImportResource, toProgress } from '../../features/transfer/import/import-row.ts'
import type { ImportResource } from '../../features/transfer/schema.ts'
import { openServices } from '../../start/services.ts'
import { createSite } from '../../start/site.ts'
import { isDataDirLocked } from '../../storage/lock.ts'
import { toWorkerConfig } from '../../workers/run-workers.ts'
import { parseIdArgument } from '../arguments.ts'
import type { CommandNeeds, CommandOptions } from '../command.ts'
import type { ProgressBar } from '../progress-bar.ts'
import { copyFiles } from './copy-files.ts'
import { formatImport, formatUndo } from './format-import.ts'
import { parseImportOptions } from './parse-options.ts'
import { recognizeFile } from './recognize-file.ts'

export interface ImportCommandNeeds extends CommandNeeds {
  progress: ProgressBar
  /** Ends the command; the import goes on. */
  signal: AbortSignal
}

const POLL_MS = 200

/** @returns the report for the operator */
export async function runImportCommand(
  needs: ImportCommandNeeds,
  path: string,
  options: CommandOptions,
): Promise<string> {
  const { actor, create } = await prepare(needs, options)
  const input = parseImportOptions(options)
  const source = input.source ?? (await recognizeFile(path))
  const upload = await copyFiles(create.dataDir, path, options.clicks, needs.progress)
  try {
    const { id } = await createImport(create, actor, { ...input, source }, upload)
    const done = await watchImport(needs, create, actor, id)
    return formatImport(needs.config, done)
  } finally {
    await upload.directory.discard()
  }
}

/** @returns the report for the operator */
export async function runUndoCommand(needs: ImportCommandNeeds, options: CommandOptions): Promise<string> {
  const { actor, create } = await prepare(needs, options)
  const id = parseIdArgument(options.undo, '--undo')
  await deleteImport(create, actor, id)
  return formatUndo(await watchImport(needs, create, actor, id))
}

async function prepare({ db, now, config: shared }: ImportCommandNeeds, options: CommandOptions) {
  const workspaceId = parseIdArgument(options.workspace, '--workspace')
  const actor = await getOperatorActor({ db }, { workspaceId })
  const config = toNodeConfig(shared)
  const create: CreateNeeds = {
    db,
    site: createSite(config),
    now,
    dataDir: config.dataDir,
    node: await ensureNodeId(config.dataDir),
    wakeRunner() {},
  }
  return { actor, create }
}

/** With WORKERS, each server has a directory of its own. */
const toNodeConfig = (config: Config) => (config.workers > 1 ? toWorkerConfig(config, 1) : config)

/** Shows the progress until the import has ended. Where no server runs, this process is one meanwhile. */
async function watchImport(
  needs: ImportCommandNeeds,
  { dataDir }: CreateNeeds,
  actor: Actor,
  id: number,
): Promise<ImportResource> {
  const { db, config, progress, signal, now } = needs
  const services = isDataDirLocked(dataDir) ? undefined : await openServices(toNodeConfig(config), { now })
  try {
    for (;;) {
      signal.throwIfAborted()
      const row = await getImport(db.read, actor, id)
      if (!isOpen(row)) {
        // Clicks are in the hit worker's hands: let it count them before this process ends.
        await services?.hitWorker.drain()
        return await toImportResource(db.read, actor, row)
      }
      progress.at(
        toProgress(row),
        row.status === 'queued' ? 'waits for its turn' : (STAGES[row.stage] ?? row.stage),
      )
      await Bun.sleep(POLL_MS)
    }
  } finally {
    progress.end()
    await services?.close()
  }
}

const STAGES: Record<string, string> = {
  check: 'reads the file',
  links: 'creates links',
  clicks: 'brings clicks',
  undo: 'takes the import back',
}
