// Runs `towpath import`: puts the files into the data directory and a row into the database, where the server finds
// them. Without a server, this process runs the jobs itself until the import has ended.

import { constants } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Actor } from '../../features/accounts/access/actor.ts'
import { ensureNodeId } from '../../features/hits/spool/node-id.ts'
import { getOperatorActor } from '../../features/links/domains/operator-actor.ts'
import { FileProblem } from '../../features/transfer/files/source-file.ts'
import { type CreateNeeds, createImport } from '../../features/transfer/import/create-import.ts'
import { deleteImport } from '../../features/transfer/import/delete-import.ts'
import { getImport } from '../../features/transfer/import/find-imports.ts'
import { createUploadDirectory, FILE_NAMES } from '../../features/transfer/import/import-files.ts'
import { isOpen, toImportResource, toProgress } from '../../features/transfer/import/import-row.ts'
import type { ReceivedFile, Upload } from '../../features/transfer/import/receive-upload.ts'
import { openReader } from '../../features/transfer/reader/open-reader.ts'
import {
  CreateImport,
  type CreateImportInput,
  type ImportResource,
  type LinkSourceName,
} from '../../features/transfer/schema.ts'
import { fieldErrors } from '../../http/validation.ts'
import { Failure } from '../../lib/failure.ts'
import { openServices, type Services } from '../../start/services.ts'
import { createSite } from '../../start/site.ts'
import { findShortage } from '../../storage/disk-space.ts'
import { isDataDirLocked } from '../../storage/lock.ts'
import { syncToDisk } from '../../storage/write-durably.ts'
import { toWorkerConfig } from '../../workers/run-workers.ts'
import { parseIdArgument } from '../arguments.ts'
import { CommandError, type CommandNeeds, type CommandOptions } from '../command.ts'
import type { ProgressBar } from '../progress-bar.ts'

export interface ImportCommandNeeds extends CommandNeeds {
  progress: ProgressBar
  /** Ends the command; the import continues. */
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
    const { id } = await createImport(create, actor, { ...input, source }, upload).catch((error) => {
      const isInvalid = error instanceof Failure && error.code === 'invalid'
      throw isInvalid ? new CommandError(toOptionNames(error.message)) : error
    })
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

/** With WORKERS, each server has its own directory. */
const toNodeConfig = (config: Config) => (config.workers > 1 ? toWorkerConfig(config, 1) : config)

/** Shows the progress until the import has ended. Where no server runs, this process is one meanwhile. */
async function watchImport(
  needs: ImportCommandNeeds,
  { dataDir }: CreateNeeds,
  actor: Actor,
  id: number,
): Promise<ImportResource> {
  const { db, config, progress, signal, now } = needs
  let services: Services | undefined
  try {
    for (;;) {
      signal.throwIfAborted()
      // The process that runs imports may end meanwhile, such as another command.
      if (!services && !isDataDirLocked(dataDir)) {
        services = await openServices(toNodeConfig(config), { now }).catch((error) => {
          if (!isDataDirLocked(dataDir)) throw error
          return undefined
        })
        await services?.openLater()
      }
      const row = await getImport(db.read, actor, id)
      if (!isOpen(row)) {
        // Clicks are in the hit worker's hands: let it count them before this process ends.
        await services?.hitWorker.drain()
        return await toImportResource(db.read, actor, row)
      }
      progress.at(
        toProgress(row),
        row.status === 'queued' ? 'waiting for its turn' : (STAGES[row.stage] ?? row.stage),
      )
      await Bun.sleep(POLL_MS)
    }
  } finally {
    progress.end()
    await services?.close()
  }
}

const STAGES: Record<string, string> = {
  check: 'reading the file',
  links: 'creating links',
  clicks: 'importing clicks',
  undo: 'undoing the import',
}

/** By the field of the API. */
const OPTION_NAMES: Record<string, string> = {
  source: '--source',
  onConflict: '--on-conflict',
  domainMap: '--domain-map',
  mapping: '--mapping',
  dateOrder: '--date-order',
  timeZone: '--time-zone',
}

/**
 * Parses the options of `towpath import`: the same rules as those of POST /imports.
 * @throws CommandError
 */
function parseImportOptions(options: CommandOptions): CreateImportInput {
  const body = {
    source: options.source,
    dryRun: options['dry-run'],
    onConflict: options['on-conflict'],
    domainMap: parsePairs(options['domain-map'], '--domain-map'),
    mapping: parsePairs(options.mapping, '--mapping'),
    dateOrder: options['date-order'],
    timeZone: options['time-zone'],
  }
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
  const { data, error } = CreateImport.safeParse(given)
  if (data) return data
  const [path = '', message] = Object.entries(fieldErrors(error.issues, 'field'))[0] ?? []
  const [field = '', ...part] = path.split('.')
  throw new CommandError(`${[OPTION_NAMES[field] ?? field, ...part].join(' ')} ${message}.`)
}

/** The server names the fields of its API. Only names that are no words of English are replaced. */
const toOptionNames = (text: string) =>
  text.replace(/\b(?:onConflict|domainMap|dateOrder|timeZone)\b/g, (name) => OPTION_NAMES[name] ?? name)

/** @param text `a=b,c=d` */
function parsePairs(text: string | undefined, option: string): Record<string, string> | undefined {
  if (text === undefined) return undefined
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new CommandError(`${option} is written as name=value,name=value.`)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(pairs)
}

/**
 * Detects the tool of a file, when the operator has not named one.
 * @throws CommandError
 */
async function recognizeFile(path: string): Promise<LinkSourceName> {
  await describeFile(path)
  const reader = openReader()
  try {
    const file = { path: resolve(path), name: basename(path) }
    const options = { mapping: {}, dateOrder: null, timeZone: 'UTC' }
    const { source, title } = await reader.run('inspect', { file, options }, async () => null)
    process.stderr.write(`Recognized as ${title}. Set --source if this is wrong.\n`)
    return source
  } catch (error) {
    throw error instanceof FileProblem ? new CommandError(toOptionNames(error.message)) : error
  } finally {
    reader.close()
  }
}

/** The largest import. Larger ones have to be split. */
const FILE_MAX = 10 * 1024 ** 3

/**
 * Copies the files of an import into the data directory, where the server reads them.
 * @throws CommandError; then nothing stays
 */
async function copyFiles(
  dataDir: string,
  path: string,
  clicksPath: string | undefined,
  progress: ProgressBar,
): Promise<Upload> {
  const file = await describeFile(path)
  const clicks = clicksPath === undefined ? undefined : await describeFile(clicksPath)
  const shortage = await findShortage(dataDir, file.bytes + (clicks?.bytes ?? 0))
  if (shortage)
    throw new CommandError(
      `${dataDir} has no room for a copy of the files: it needs ${shortage.needed}, and ${shortage.free} are free.`,
    )
  const directory = await createUploadDirectory(dataDir)
  try {
    progress.at(0, 'copying the file')
    await copyDurably(path, join(directory.path, FILE_NAMES.file))
    if (clicksPath !== undefined) await copyDurably(clicksPath, join(directory.path, FILE_NAMES.clicks))
    return { directory, files: { file, ...(clicks && { clicks }) }, fields: {} }
  } catch (error) {
    await directory.discard()
    throw error
  }
}

async function describeFile(path: string): Promise<ReceivedFile> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new CommandError(`There is no file ${path}.`)
  if (!found.isFile()) throw new CommandError(`${path} is no file.`)
  if (found.size === 0) throw new CommandError(`${path} is empty.`)
  if (found.size > FILE_MAX) throw new CommandError(`${path} is larger than 10 GiB. Import it in parts.`)
  return { name: basename(path), bytes: found.size }
}

/** Some file systems share the blocks of both files. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
  await syncToDisk(to)
}

const SHOWN_MAX = 10

const count = (n: number, one: string, many = `${one}s`) =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`

/**
 * Formats the operator's report at the end of an import, and of an undo.
 * @throws CommandError where the import has failed
 */
function formatImport({ origin }: Pick<Config, 'origin'>, done: ImportResource): string {
  if (done.problem !== null)
    throw new CommandError(`Import ${done.id} has failed. ${toOptionNames(done.problem)}`)
  const { created, renamed, skipped, failed, clicks, rows, source } = done
  const opening = done.dryRun ? `Dry run ${done.id}: nothing is changed.` : `Import ${done.id} is done.`
  return [
    `${opening} Of ${count(rows, 'row')}:`,
    `  ${count(created, source === 'towpath' ? 'item' : 'link')} created${renamed === 0 ? '' : `, ${renamed.toLocaleString('en')} of them with another slug`}`,
    `  ${skipped.toLocaleString('en')} skipped`,
    `  ${failed.toLocaleString('en')} failed`,
    `  ${count(clicks, 'click')} of their history`,
    ...done.notices,
    ...formatErrors(origin, done),
    ...(done.dryRun ? [] : [`Undo it by ${done.undoableUntil?.slice(0, 10)} with --undo ${done.id}`]),
  ].join('\n')
}

function formatErrors(origin: string, { id, errors }: ImportResource): string[] {
  if (errors.length === 0) return []
  const lines = errors.slice(0, SHOWN_MAX).map(({ row, field, value, message }) => {
    const place = field === null ? `row ${row}` : `row ${row}, ${field}`
    return `  ${place}: ${message}${value === null ? '' : ` (${JSON.stringify(value)})`}`
  })
  return ['Errors:', ...lines, `All errors as CSV: ${origin}/v1/imports/${id}/errors`]
}

function formatUndo({ id, kept, problem, status }: ImportResource): string {
  if (status !== 'undone') throw new CommandError(`Import ${id} is not undone. ${problem ?? ''}`.trim())
  if (kept.length === 0) return `Import ${id} is undone: everything it created is deleted.`
  return [
    `Import ${id} is undone, except for ${count(kept.length, 'item')}:`,
    ...kept.slice(0, SHOWN_MAX).map(({ kind, name, reason }) => `  ${kind} ${name}: ${reason}`),
    ...(kept.length > SHOWN_MAX ? [`  … and ${count(kept.length - SHOWN_MAX, 'other')}`] : []),
  ].join('\n')
}
