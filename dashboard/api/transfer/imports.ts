// Imports over the REST API: looking at a file, starting an import, following it, and undoing it.

import { infiniteQueryOptions, type Query, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  CreateImportInput,
  DateOrder,
  ImportResource,
  ImportRowResource,
  ImportSourceName,
  ImportSubmissionsInput,
  InspectionResource,
  LinkSourceName,
  MAPPED_FIELDS,
  OnConflict,
  RowOutcome,
} from '../../../server/features/transfer/schema.ts'
import { type Api, ApiError, type QueryParameters } from '../client.ts'
import { inPages } from '../pages.ts'
import { isSignedOut } from '../session.ts'
import { isReadable, type UploadOptions, uploadForm } from './upload.ts'

export type {
  DateOrder,
  ImportResource,
  ImportRowResource,
  ImportSourceName,
  LinkSourceName,
  OnConflict,
  RowOutcome,
}

/** The server's inspection of a file before its import. */
export type FileInspection = InspectionResource
/** A field of a link that a column of a CSV file can have. */
export type MappedField = (typeof MAPPED_FIELDS)[number]

/** The server refuses more (docs/contract.md §11). The CLI takes larger files. */
export const LINKS_FILE_MAX = 64 * 2 ** 20
export const LARGE_FILE_MAX = 2 ** 30

/** The person's settings for the files. The server decides absent values. */
export type ImportSettings = Omit<CreateImportInput, 'file' | 'clicks' | 'from'>

const importsKey = (api: Api) => [api.workspaceId, 'imports'] as const

export const importsQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [...importsKey(api), 'list'],
    ...inPages<ImportResource>(api, '/imports', { limit: 20 }),
  })

/** An import that changes by itself. */
export const isUnderway = ({ status }: Pick<ImportResource, 'status'>) =>
  status === 'queued' || status === 'running'

const FIRST_POLL_MS = 400
const LAST_POLL_MS = 5000
const SLOWDOWN = 1.2

/** The longer an import takes, the longer the pauses. A page that is opened again starts with short ones. */
const toPollPause = (polls: number) => Math.min(LAST_POLL_MS, FIRST_POLL_MS * SLOWDOWN ** polls)

export const importQuery = (api: Api, id: number) =>
  queryOptions({
    queryKey: [...importsKey(api), 'one', id],
    queryFn: ({ signal }) => api.get<ImportResource>(`/imports/${id}`, { signal }),
    refetchInterval: ({ state }: Pick<Query<ImportResource>, 'state'>) =>
      isSignedOut(state.error) || (state.data && !isUnderway(state.data))
        ? false
        : toPollPause(state.dataUpdateCount + state.errorUpdateCount),
    retry: false,
  })

/** The rows of one tab: those of an outcome, or the tags that came along, which the import does not count as rows. */
export type RowGroup = RowOutcome | 'tags'

const toRowQuery = (group: RowGroup, source: ImportSourceName): QueryParameters => {
  if (group === 'tags') return { outcome: 'created', kind: 'tag' }
  // In an export of Towpath, tags are rows like any other.
  return group === 'created' && source !== 'towpath' ? { outcome: group, kind: 'link' } : { outcome: group }
}

export const importRowsQuery = (api: Api, { id, source }: ImportResource, group: RowGroup) =>
  infiniteQueryOptions({
    queryKey: [...importsKey(api), 'rows', id, group],
    ...inPages<ImportRowResource>(api, `/imports/${id}/rows`, { ...toRowQuery(group, source), limit: 50 }),
  })

/** Imports that need a person come first. */
const ROW_GROUPS: RowGroup[] = ['kept', 'failed', 'skipped', 'renamed', 'created', 'tags']

/** Row counts of the tabs. After an undo, only the remaining rows are counted. */
export const rowTotalsQuery = (api: Api, { id, status, source }: ImportResource) =>
  queryOptions({
    queryKey: [...importsKey(api), 'row totals', id, status],
    queryFn: async ({ signal }) => {
      const groups = status === 'undone' ? (['kept'] as const) : ROW_GROUPS
      const asked = groups.filter((group) => group !== 'tags' || source !== 'towpath')
      const pages = asked.map(async (group) => {
        const query = { ...toRowQuery(group, source), limit: 1 }
        const { total } = await api.page<ImportRowResource>(`/imports/${id}/rows`, { query, signal })
        return { group, total }
      })
      return (await Promise.all(pages)).filter(({ total }) => total > 0)
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

export const fetchImportErrors = (api: Api, id: number) => api.file(`/imports/${id}/errors`)

/** Cancels a waiting or running import, and undoes its changes so far. */
export const undoImport = (api: Api, id: number) => api.remove<ImportResource>(`/imports/${id}`)

/** @param mapping what the person has said about columns: hosts and dates are read from them */
export const inspectFile = (
  api: Api,
  file: File,
  mapping: Record<string, string> | undefined,
  options: UploadOptions,
) =>
  untilTurn(options.signal, () =>
    uploadFiles<FileInspection>(api, '/imports/inspect', { mapping }, { file }, options),
  )

const TURN_MS = 2000
const TURNS = 10

/** The server looks at two files at once. It says so (429) while others are looked at. */
async function untilTurn<T>(signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 429) || turn === TURNS) throw error
      await new Promise((resolve) => setTimeout(resolve, TURN_MS))
      signal.throwIfAborted()
    }
  }
}

interface ImportFiles {
  file: File
  clicks: File | null
}

export const startImport = (api: Api, files: ImportFiles, settings: ImportSettings, options: UploadOptions) =>
  uploadFiles<ImportResource>(api, '/imports', settings, files, options)

const toSubmissionsPath = (formKey: string) => `/forms/${formKey}/submissions/import`

/** The export of another form service, for one form. */
export const importSubmissions = (
  api: Api,
  formKey: string,
  file: File,
  settings: Omit<ImportSubmissionsInput, 'file' | 'from'>,
  options: UploadOptions,
) => uploadFiles<ImportResource>(api, toSubmissionsPath(formKey), settings, { file }, options)

/** Imports the files of a dry run, for links or for a form. */
export const importDryRun = (api: Api, { id, formKey }: ImportResource) =>
  formKey === null
    ? startFromDryRun(api, id, { dryRun: false })
    : api.post<ImportResource>(toSubmissionsPath(formKey), { from: id, dryRun: false })

/** Imports the files of a dry run, or tries them with other settings: the server still has them. */
export const startFromDryRun = (api: Api, from: number, settings: ImportSettings) =>
  api.post<ImportResource>('/imports', { ...settings, from })

/** Settings precede the files, so that the server knows them when the first byte of a file arrives. */
async function uploadFiles<T>(
  api: Api,
  path: string,
  settings: object,
  files: { file: File; clicks?: File | null },
  options: UploadOptions,
): Promise<T> {
  const form = new FormData()
  for (const [name, value] of Object.entries(settings)) {
    if (value !== undefined)
      form.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  form.append('file', files.file)
  if (files.clicks) form.append('clicks', files.clicks)
  // A session that has ended is noticed before the upload, not after it.
  const { signal } = options
  await api.get('/workspace', { signal, isBackground: false })
  try {
    const send = (url: string, headers: Record<string, string>) => uploadForm(url, form, headers, options)
    return await api.post<T>(path, undefined, { signal, send })
  } catch (error) {
    for (const file of [files.file, files.clicks])
      if (file && !signal.aborted && !(await isReadable(file)))
        throw new Error(`${file.name} has changed since you chose it. Choose it again.`)
    throw error
  }
}

/** After an import or its undo, everything in the workspace may be different. */
export const invalidateAfterImport = (client: QueryClient, api: Api) =>
  client.invalidateQueries({
    queryKey: [api.workspaceId],
    predicate: ({ queryKey }) => !(queryKey[1] === 'imports' && queryKey[2] === 'one'),
  })
