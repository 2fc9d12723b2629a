// An upload with progress, which can be canceled. Leaving the page ends it.

import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { UploadOptions } from '../../../api/transfer/upload.ts'

export function useUpload<Input, Result>(
  send: (input: Input, options: UploadOptions) => Promise<Result>,
  onSuccess: (result: Result, input: Input) => unknown,
) {
  const [part, setPart] = useState(0)
  const controller = useRef<AbortController>(undefined)
  const upload = useMutation({
    async mutationFn(input: Input) {
      controller.current?.abort()
      const current = new AbortController()
      controller.current = current
      setPart(0)
      return send(input, { signal: current.signal, onProgress: setPart })
    },
    onSuccess,
    onError() {},
  })
  useEffect(() => () => controller.current?.abort(), [])
  return {
    start: upload.mutate,
    cancel() {
      controller.current?.abort()
      upload.reset()
    },
    forget: upload.reset,
    /** From 0 to 1; null without an upload. */
    part: upload.isPending ? part : null,
    error: controller.current?.signal.aborted ? null : upload.error,
  }
}
