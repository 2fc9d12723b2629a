// Inspects the chosen file, and again when its columns are mapped: other columns may have other hosts and dates.

import { useEffect, useRef } from 'react'
import { type FileInspection, inspectFile } from '../../../api/transfer/imports.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { useUpload } from './use-upload.ts'

/** People choose several columns in a row. */
const CHOOSING_MS = 500

interface Question {
  file: File
  mapping?: Record<string, string>
}

export function useInspection(onAnswer: (inspection: FileInspection, file: File) => void) {
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
