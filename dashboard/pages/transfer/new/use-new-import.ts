// The state of a new import: the draft, the upload that looks at its file, and the one that starts it.

import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type Api, ApiError, toFieldErrors } from '../../../api/client.ts'
import {
  type FileInspection,
  type ImportSettings,
  importQuery,
  inspectFile,
  LARGE_FILE_MAX,
  LINKS_FILE_MAX,
  startFromDryRun,
  startImport,
} from '../../../api/imports.ts'
import type { UploadOptions } from '../../../api/upload.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatBytes } from '../../../ui/format.ts'
import {
  clearImportDraft,
  EMPTY_DRAFT,
  getImportDraft,
  type ImportDraft,
  isZip,
  saveImportDraft,
  toImportSettings,
  toMapping,
  toSource,
} from './import-draft.ts'
import { useUpload } from './use-upload.ts'

/** The fields that show their own errors; those of columns and hosts are named below them. */
const SHOWN = ['source', 'file', 'clicks', 'mapping', 'domainMap', 'dateOrder', 'timeZone', 'onConflict']

/** People choose several columns in a row. */
const CHOOSING_MS = 500

type FileErrors = Partial<Record<'file' | 'clicks', string>>

export function useNewImport() {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/transfer' })
  const [draft, setDraft] = useState(() => getImportDraft(api.workspaceId))
  const [fileErrors, setFileErrors] = useState<FileErrors>({})
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const inspection = useUpload(
    ({ file, mapping }: { file: File; mapping?: Record<string, string> }, options) =>
      inspectFile(api, file, mapping, options),
    (result, { file }) => change(placeFile(result, file)),
  )
  const start = useUpload(
    ({ dryRun }: { dryRun: boolean }, options) => {
      clearTimeout(timer.current)
      const settings = { ...toImportSettings(draft), dryRun }
      return sendDraft(api, draft, settings, options)
    },
    (started) => {
      client.setQueryData(importQuery(api, started.id).queryKey, started)
      if (started.dryRun) saveImportDraft(api.workspaceId, { ...draft, dryRunId: started.id })
      else clearImportDraft(api.workspaceId)
      return navigate({
        to: '/$workspaceId/transfer/$importId',
        params: { importId: String(started.id) },
        search: {},
        // The upload is over.
        ignoreBlocker: true,
      })
    },
  )
  function change(changes: Partial<ImportDraft>) {
    setDraft((before) => {
      const next = { ...before, ...changes }
      saveImportDraft(api.workspaceId, next)
      return next
    })
    // An error belongs to what was sent.
    start.forget()
  }
  /** Other columns may have other hosts and dates. */
  function inspectSoon(next: ImportDraft) {
    const { file } = next
    clearTimeout(timer.current)
    if (file)
      timer.current = setTimeout(() => inspection.start({ file, mapping: toMapping(next) }), CHOOSING_MS)
  }
  const inspectionErrors = toFieldErrors(inspection.error, ['file'])
  return {
    draft,
    source: toSource(draft),
    change,
    inspection,
    start,
    errors: {
      ...toFieldErrors(start.error, SHOWN),
      ...(inspection.error && { file: inspectionErrors.file ?? inspectionErrors.general }),
      ...fileErrors,
    } as Record<string, string>,
    chooseFile(files: File[]) {
      const [file, clicks] = files
      if (!file) return
      const problem = findFileProblem(file, isZip(file) ? LARGE_FILE_MAX : LINKS_FILE_MAX)
      setFileErrors(problem ? { file: problem } : {})
      if (problem) return
      change({ ...FORGET_FILE, file, ...(clicks && { clicks }) })
      inspection.cancel()
      // Only an export of Towpath may be larger: there is nothing to recognise.
      if (file.size <= LINKS_FILE_MAX) inspection.start({ file })
    },
    changeMapping(mapping: Record<string, string>) {
      change({ mapping })
      inspectSoon({ ...draft, mapping })
    },
    chooseClicks([clicks]: File[]) {
      if (!clicks) return
      const problem = findFileProblem(clicks, LARGE_FILE_MAX)
      setFileErrors(problem ? { clicks: problem } : {})
      if (!problem) change({ clicks, dryRunId: null })
    },
    removeFile() {
      inspection.cancel()
      setFileErrors({})
      change(FORGET_FILE)
    },
  }
}

/** The files go up once: the server keeps those of a dry run for a day. */
async function sendDraft(
  api: Api,
  { file, clicks, dryRunId }: ImportDraft,
  settings: ImportSettings,
  options: UploadOptions,
) {
  if (!file) throw new Error('Choose a file first.')
  if (dryRunId === null) return startImport(api, { file, clicks }, settings, options)
  return startFromDryRun(api, dryRunId, settings).catch((error) => {
    if (!(error instanceof ApiError && error.errors.from)) throw error
    return startImport(api, { file, clicks }, settings, options)
  })
}

/** What belongs to one file. */
const FORGET_FILE = {
  file: null,
  inspection: null,
  mapping: EMPTY_DRAFT.mapping,
  domainMap: EMPTY_DRAFT.domainMap,
  dateOrder: EMPTY_DRAFT.dateOrder,
  dryRunId: null,
}

/** A history that was chosen as the file with the links goes to its own field. */
const placeFile = (result: FileInspection, file: File): Partial<ImportDraft> =>
  result.holds === 'clicks' ? { ...FORGET_FILE, clicks: file } : { inspection: result }

function findFileProblem(file: File, max: number): string | undefined {
  if (file.size === 0) return `${file.name} is empty.`
  if (file.size <= max) return undefined
  return (
    `${file.name} has ${formatBytes(file.size)}, and at most ${formatBytes(max)} can be uploaded here. ` +
    'The operator of the server can import it: npm run towpath -- import.'
  )
}
