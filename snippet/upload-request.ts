// Sends a form with files. Uses XMLHttpRequest, because fetch reports no upload progress.

/** An upload without progress for this long has failed. */
const STALLED_AFTER_MS = 60_000

export type ProgressListener = (progress: { sent: number; total: number }) => void

/**
 * Rejects after a network failure. The signal is aborted where a retry by the browser would help nobody: bytes had
 * already arrived, or nothing moved for a minute.
 */
export const sendUpload = (
  url: string,
  body: FormData,
  abort: AbortController,
  onProgress: ProgressListener,
) =>
  new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest()
    let stalled: ReturnType<typeof setTimeout>
    const giveUp = () => {
      abort.abort()
      request.abort()
    }
    const wait = () => {
      clearTimeout(stalled)
      stalled = setTimeout(giveUp, STALLED_AFTER_MS)
    }
    let hasSent = false
    request.upload.onprogress = ({ loaded: sent, total }) => {
      wait()
      hasSent ||= sent > 0
      onProgress({ sent, total })
    }
    request.upload.onload = wait
    request.onload = () =>
      resolve(new Response(request.responseText || null, { status: Math.max(request.status, 200) }))
    request.onerror = () => {
      if (hasSent) abort.abort()
      reject(new TypeError('Network failure'))
    }
    request.onabort = () => reject(new DOMException('Aborted', 'AbortError'))
    request.onloadend = () => clearTimeout(stalled)
    abort.signal.addEventListener('abort', () => request.abort())
    request.open('POST', url)
    request.setRequestHeader('Accept', 'application/json')
    request.send(body)
    wait()
  })
