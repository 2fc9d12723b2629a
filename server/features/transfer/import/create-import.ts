// Creates an import: a row that waits for the runner, and the files in the data directory.

import { Failure, invalid } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { getFormId } from '../../forms/settings/form.ts'
import type { Site } from '../../links/link.ts'
import { resolveDomain } from '../../links/names/link-domain.ts'
import {
  type CreateImportInput,
  DRY_RUN_FILE_HOURS,
  type ImportResource,
  type ImportSourceName,
  type ImportSubmissionsInput,
  OPEN_IMPORTS_MAX,
} from '../schema.ts'
import { getImport } from './find-imports.ts'
import { removeUpload } from './import-files.ts'
import { type ImportOptions, type ImportRow, readOptions, toImportResource } from './import-row.ts'
import type { ReceivedFile, Upload } from './receive-upload.ts'

export interface CreateNeeds {
  db: Database
  site: Site
  now: () => number
  dataDir: string
  /** The node with the files, which runs the import. */
  node: string
  /** Starts the runner now. It also checks for work each second. */
  wakeRunner(): void
}

interface ImportFiles {
  directory: string
  file: ReceivedFile
  clicks: ReceivedFile | undefined
}

/**
 * @param upload its files; if this fails, the caller deletes them
 * @throws Failure `invalid`, `forbidden`, `not_found` for `from`, `too_many`
 */
export async function createImport(
  needs: CreateNeeds,
  actor: Actor,
  input: CreateImportInput,
  upload: Upload | undefined,
): Promise<ImportResource> {
  allow(actor, 'links:write')
  const earlier = input.from === undefined ? undefined : await findDryRun(needs, actor, input.from)
  const source = requireSource(input, earlier)
  if (source === 'towpath') requireFullAccess(actor)
  await checkDomainMap(needs, actor, input)
  return queueImport(needs, actor, { input, source, earlier }, upload)
}

/**
 * Creates an import of another service's submissions into a form.
 * @throws Failure `not_found` for the form, and those of `createImport`
 */
export async function createSubmissionImport(
  needs: CreateNeeds,
  actor: Actor,
  formKey: string,
  input: ImportSubmissionsInput,
  upload: Upload | undefined,
): Promise<ImportResource> {
  allow(actor, 'forms:write')
  const form = { id: await getFormId(needs.db.read, actor, formKey), key: formKey }
  const earlier = input.from === undefined ? undefined : await findDryRun(needs, actor, input.from)
  refuseTwoFiles(input, earlier)
  if (earlier && readOptions(earlier).form?.id !== form.id)
    throw invalid({ from: 'is not a dry run of submissions for this form' })
  return queueImport(needs, actor, { input, source: 'submissions', earlier, form }, upload)
}

async function queueImport(
  needs: CreateNeeds,
  actor: Actor,
  wanted: Omit<NewImport, 'files'>,
  upload: Upload | undefined,
): Promise<ImportResource> {
  const { earlier } = wanted
  const files = earlier ? toFiles(earlier) : await finishUpload(upload)
  try {
    const resource = await storeImport(needs, actor, { ...wanted, files })
    needs.wakeRunner()
    return resource
  } catch (error) {
    if (!earlier) await removeUpload(needs.dataDir, files.directory)
    throw error
  }
}

const storeImport = (needs: CreateNeeds, actor: Actor, wanted: NewImport): Promise<ImportResource> =>
  needs.db.write(async (connection) => {
    await requireFreeImportSlot(connection, actor)
    const row = await insertImport(connection, needs, actor, wanted)
    const target = { type: 'import', id: row.id, name: row.file_name ?? wanted.source } as const
    const detail = {
      source: wanted.source,
      dryRun: row.dry_run === 1,
      ...(wanted.form && { formKey: wanted.form.key }),
    }
    await recordAudit(connection, actor, { action: 'import.created', target, detail }, row.created_at)
    return toImportResource(connection, actor, row)
  })

/** @throws Failure `invalid` */
async function findDryRun({ db, now, node }: CreateNeeds, actor: Actor, id: number): Promise<ImportRow> {
  const row = await getImport(db.read, actor, id).catch(() => undefined)
  if (row?.dry_run !== 1) throw invalid({ from: 'is not a dry run of this workspace' })
  if (row.finished_at === null) throw invalid({ from: 'is not done yet' })
  const age = now() - row.finished_at
  if (row.status === 'undone' || age > DRY_RUN_FILE_HOURS * 60 * 60_000)
    throw invalid({ from: 'has no files: they are kept for 24 hours only. Upload them again' })
  if (row.node !== node) throw invalid({ from: 'has its files on another server. Send them again' })
  return row
}

function refuseTwoFiles({ file }: Pick<CreateImportInput, 'file'>, earlier: ImportRow | undefined): void {
  if (earlier && file !== undefined) throw invalid({ file: 'cannot be combined with from' })
}

function requireSource(input: CreateImportInput, earlier: ImportRow | undefined): ImportSourceName {
  if (earlier?.source === 'submissions')
    throw invalid({ from: 'is a dry run of submissions: import them into its form' })
  const source = input.source ?? (earlier?.source as ImportSourceName | undefined)
  if (source === undefined) throw invalid({ source: 'is required' })
  refuseTwoFiles(input, earlier)
  if (earlier && input.clicks !== undefined) throw invalid({ clicks: 'cannot be combined with from' })
  if (input.mapping !== undefined && source !== 'csv')
    throw invalid({ mapping: 'is for the source csv: the columns of other tools are known' })
  return source
}

/** Requires full access, because an export of a workspace has forms, submissions and channels. @throws Failure `forbidden` */
export function requireFullAccess(actor: Actor): void {
  const hasScopes = actor.kind !== 'user' && actor.scopes !== undefined && !actor.scopes.includes('*')
  const isOwner = actor.kind !== 'user' || actor.role === 'owner'
  if (hasScopes || !isOwner)
    throw new Failure('forbidden', 'An export of a whole workspace is for owners and keys with full access')
}

/** @throws Failure `invalid`, with the host of a wrong domain */
async function checkDomainMap({ db, site }: CreateNeeds, actor: Actor, { domainMap }: CreateImportInput) {
  for (const domain of new Set(Object.values(domainMap ?? {}))) {
    await resolveDomain({ connection: db.read, site }, actor, domain).catch((error) => {
      const host = Object.keys(domainMap ?? {}).find((each) => domainMap?.[each] === domain)
      const message = error instanceof Failure ? error.detail.errors?.domain : undefined
      throw message === undefined ? error : invalid({ [`domainMap.${host}`]: message })
    })
  }
}

const toFiles = (row: ImportRow): ImportFiles => ({
  directory: readOptions(row).directory,
  file: { name: row.file_name, bytes: row.file_bytes },
  clicks:
    row.clicks_file_bytes === null ? undefined : { name: row.clicks_file_name, bytes: row.clicks_file_bytes },
})

async function finishUpload(upload: Upload | undefined): Promise<ImportFiles> {
  const file = upload?.files.file
  if (!upload || !file) throw invalid({ file: 'is required' })
  if (file.bytes === 0) throw invalid({ file: 'is empty' })
  if (upload.files.clicks?.bytes === 0) throw invalid({ clicks: 'is empty' })
  return { directory: await upload.directory.finish(), file, clicks: upload.files.clicks }
}

/** @throws Failure `too_many` */
export async function requireFreeImportSlot(connection: Connection, actor: Actor): Promise<void> {
  const { open } = await connection
    .selectFrom('imports')
    .select((e) => e.fn.countAll<number>().as('open'))
    .where('workspace_id', '=', actor.workspaceId)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow()
  if (Number(open) >= OPEN_IMPORTS_MAX)
    throw new Failure('too_many', `${OPEN_IMPORTS_MAX} imports wait already. Try again when one is done.`, {
      retryAfter: 60,
    })
}

interface NewImport {
  input: Omit<CreateImportInput, 'source'>
  source: ImportSourceName
  files: ImportFiles
  earlier: ImportRow | undefined
  form?: ImportOptions['form']
}

function insertImport(
  connection: Connection,
  { now, node }: CreateNeeds,
  actor: Actor,
  { input, source, files, earlier, form }: NewImport,
): Promise<ImportRow> {
  const before = earlier && readOptions(earlier)
  const options: ImportOptions = {
    directory: files.directory,
    ...(form && { form }),
    domainMap: toLowerCaseKeys(input.domainMap ?? before?.domainMap ?? {}),
    mapping: input.mapping ?? before?.mapping ?? {},
    dateOrder: input.dateOrder ?? before?.dateOrder ?? null,
    timeZone: input.timeZone ?? before?.timeZone ?? 'UTC',
    linksDateOrder: null,
    clicksDateOrder: null,
    clickRows: null,
  }
  return connection
    .insertInto('imports')
    .values({
      workspace_id: actor.workspaceId,
      node,
      source,
      status: 'queued',
      stage: 'check',
      dry_run: Number(input.dryRun ?? false),
      on_conflict: input.onConflict ?? earlier?.on_conflict ?? 'skip',
      options: JSON.stringify(options),
      file_name: files.file.name,
      file_bytes: files.file.bytes,
      clicks_file_name: files.clicks?.name ?? null,
      clicks_file_bytes: files.clicks?.bytes ?? null,
      actor: JSON.stringify(actor),
      created_at: now(),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const toLowerCaseKeys = (map: Record<string, string>) =>
  Object.fromEntries(Object.entries(map).map(([host, domain]) => [host.toLowerCase(), domain]))
