// Imports over the REST API: looking at a file, starting an import, following it, and undoing it.

import { infiniteQueryOptions, type Query, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  DateOrder,
  ImportSourceName,
  ImportStatus,
  OnConflict,
} from '../../server/features/transfer/schema.ts'
import type { Api, RequestOptions, ResultPage } from './client.ts'
import { isSignedOut } from './session.ts'
import { isReadable } from './upload.ts'

export type { DateOrder, ImportSourceName, OnConflict }

/** The server refuses more (docs/contract.md §11). The CLI takes larger files. */
export const LINKS_FILE_MAX = 64 * 2 ** 20
export const LARGE_FILE_MAX = 2 ** 30

export interface ImportResource {
  id: number
  source: ImportSourceName
  status: ImportStatus
  stage: 'check' | 'links' | 'clicks' | 'undo'
  dryRun: boolean
  onConflict: OnConflict
  fileName: string | null
  clicksFileName: string | null
  rows: number
  created: number
  renamed: number
  skipped: number
  failed: number
  clicks: number
  progress: number
  notices: string[]
  problem: string | null
  errors: { row: number; field: string | null; value: string | null; message: string }[]
  undoableUntil: string | null
  kept: { kind: string; id: number; name: string | null; reason: string }[]
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
  undoneAt: string | null
}

export type RowOutcome = 'created' | 'renamed' | 'skipped' | 'failed' | 'kept'

export interface ImportRowResource {
  id: number
  row: number
  kind: string
  outcome: RowOutcome
  name: string | null
  itemId: number | null
  field: string | null
  value: string | null
  message: string | null
}

/** What the server says about a file before it is imported. */
export interface FileInspection {
  /** `csv` where no tool has these columns. */
  source: ImportSourceName
  holds: 'links' | 'clicks'
  format: 'csv' | 'json' | 'sql' | 'zip'
  encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'
  /** Rows that were looked at. */
  rows: number
  columns: { name: string; samples: string[] }[]
  /** Our field → the column that seems to have it. */
  mapping: Record<string, string>
  hosts: { host: string; links: number }[]
  /** Nobody can say which order of day, month and year the dates have. */
  ambiguousDates: boolean
  dateSamples: string[]
}

/** What the person says about the files. A value that is absent is the server's to decide. */
export interface ImportSettings {
  source?: ImportSourceName
  onConflict: OnConflict
  domainMap: Record<string, string>
  mapping?: Record<string, string>
  dateOrder?: DateOrder
  timeZone: string
}

const importsKey = (api: Api) => [api.workspaceId, 'imports'] as const

export const importsQuery = (api: Api) =>
  infiniteQueryOptions({
    queryKey: [...importsKey(api), 'list'],
    queryFn: ({ pageParam, signal }) =>
      api.page<ImportResource>('/imports', { query: { limit: 20, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: (last: ResultPage<ImportResource>) => last.nextCursor ?? undefined,
  })

/** An import that changes by itself. */
export const isUnderway = ({ status, stage }: Pick<ImportResource, 'status' | 'stage'>) =>
  status === 'queued' || status === 'running' || (stage === 'undo' && status !== 'undone')

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

export const importRowsQuery = (api: Api, id: number, outcome: RowOutcome) =>
  infiniteQueryOptions({
    queryKey: [...importsKey(api), 'rows', id, outcome],
    queryFn: ({ pageParam, signal }) =>
      api.page<ImportRowResource>(`/imports/${id}/rows`, {
        query: { outcome, limit: 100, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last: ResultPage<ImportRowResource>) => last.nextCursor ?? undefined,
  })

export async function fetchImportErrors(api: Api, id: number) {
  const response = await api.raw(`/imports/${id}/errors`)
  return { file: await response.blob(), name: `import-${id}-errors.csv` }
}

export const undoImport = (api: Api, id: number) => api.remove<ImportResource>(`/imports/${id}`)

type UploadOptions = Pick<RequestOptions, 'signal' | 'onProgress'>

export const inspectFile = (api: Api, file: File, options: UploadOptions) =>
  uploadFiles<FileInspection>(api, '/imports/inspect', {}, { file }, options)

interface ImportFiles {
  file: File
  clicks: File | null
}

export const startImport = (
  api: Api,
  files: ImportFiles,
  settings: ImportSettings & { dryRun: boolean },
  options: UploadOptions,
) => uploadFiles<ImportResource>(api, '/imports', settings, files, options)

/** Imports what a dry run has tried: the server still has its files. */
export const importDryRun = (api: Api, id: number) =>
  api.post<ImportResource>('/imports', { from: id, dryRun: false })

/** Settings stand before the files, so that the server knows them when it reads the first byte of a file. */
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
  await api.get('/workspace', { signal: options.signal, isBackground: false })
  try {
    return await api.upload<T>(path, form, options)
  } catch (error) {
    for (const file of [files.file, files.clicks])
      if (file && !options.signal?.aborted && !(await isReadable(file)))
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
