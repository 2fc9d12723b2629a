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
} from '../../../api/transfer/imports.ts'
import type { UploadOptions } from '../../../api/transfer/upload.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { findFileProblem } from './file-problem.ts'
import {
  clearImportDraft,
  getImportDraft,
  type ImportDraft,
  isZip,
  NO_FILE,
  saveImportDraft,
  toImportSettings,
  toMapping,
  toSource,
} from './import-draft.ts'
import { useUpload } from './use-upload.ts'

/** The fields that show their own errors; errors of columns and hosts are listed below. */
const SHOWN = ['source', 'file', 'clicks', 'mapping', 'domainMap', 'dateOrder', 'timeZone', 'onConflict']

type FileErrors = Partial<Record<'file' | 'clicks', string>>

export function useNewImport() {
  const api = useApi()
  const [draft, setDraft] = useState(() => getImportDraft(api.workspaceId))
  const [fileErrors, setFileErrors] = useState<FileErrors>({})
  const inspection = useInspection((answer, file) => change(placeFile(answer, file)))
  const start = useStart(draft)
  function change(changes: Partial<ImportDraft>) {
    setDraft((before) => {
      const next = { ...before, ...changes }
      saveImportDraft(api.workspaceId, next)
      return next
    })
    // An error belongs to the values that were sent.
    start.forget()
  }
  return {
    draft,
    source: toSource(draft),
    change,
    inspection,
    start,
    errors: toErrors(start.error, inspection.error, fileErrors),
    begin(dryRun: boolean) {
      inspection.stopWaiting()
      start.start({ dryRun })
    },
    chooseFile([file, clicks]: File[]) {
      if (!file) return
      const problem = findFileProblem(file, isZip(file) ? LARGE_FILE_MAX : LINKS_FILE_MAX)
      setFileErrors(problem ? { file: problem } : {})
      if (problem) return
      change({ ...NO_FILE, file, ...(clicks && { clicks }) })
      inspection.cancel()
      // Only an export of Towpath may be larger: there is nothing to recognize.
      if (file.size <= LINKS_FILE_MAX) inspection.start({ file })
    },
    changeMapping(mapping: Record<string, string>) {
      change({ mapping })
      if (draft.file) inspection.startSoon({ file: draft.file, mapping: toMapping({ ...draft, mapping }) })
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
      change(NO_FILE)
    },
  }
}

/** People choose several columns in a row. */
const CHOOSING_MS = 500

interface Question {
  file: File
  mapping?: Record<string, string>
}

/**
 * Inspects the chosen file, and again when its columns are mapped: other columns may have other hosts and dates.
 */
function useInspection(onAnswer: (inspection: FileInspection, file: File) => void) {
  const api = useApi()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const { start, cancel, part, error } = useUpload(
    ({ file, mapping }: Question, options) => inspectFile(api, file, mapping, options),
    (inspection, { file }) => onAnswer(inspection, file),
  )
  const stopWaiting = () => clearTimeout(timer.current)
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    start,
    startSoon(question: Question) {
      stopWaiting()
      timer.current = setTimeout(() => start(question), CHOOSING_MS)
    },
    stopWaiting,
    cancel() {
      stopWaiting()
      cancel()
    },
    part,
    error,
  }
}

/** Starts the import, and opens its page. */
function useStart(draft: ImportDraft) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate({ from: '/$workspaceId/settings/transfer' })
  return useUpload(
    ({ dryRun }: { dryRun: boolean }, options) =>
      sendDraft(api, draft, { ...toImportSettings(draft), dryRun }, options),
    (started) => {
      client.setQueryData(importQuery(api, started.id).queryKey, started)
      if (started.dryRun) saveImportDraft(api.workspaceId, { ...draft, dryRunId: started.id })
      else clearImportDraft(api.workspaceId)
      return navigate({
        to: '/$workspaceId/settings/transfer/$importId',
        params: { importId: String(started.id) },
        search: {},
        // The upload is over.
        ignoreBlocker: true,
      })
    },
  )
}

/** Files are uploaded once: the server keeps the files of a dry run for a day. */
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

/** A history that was chosen as the file with the links goes to its own field. */
const placeFile = (inspection: FileInspection, file: File): Partial<ImportDraft> =>
  inspection.holds === 'clicks' ? { ...NO_FILE, clicks: file } : { inspection }

/** Messages by field; `general` belongs to no field. */
function toErrors(
  startError: Error | null,
  inspectionError: Error | null,
  fileErrors: FileErrors,
): Record<string, string> {
  const { file, general } = toFieldErrors(inspectionError, ['file'])
  const inspectionProblem = file ?? general
  return {
    ...toFieldErrors(startError, SHOWN),
    ...(inspectionProblem !== undefined && { file: inspectionProblem }),
    ...fileErrors,
  }
}
