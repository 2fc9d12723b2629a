// Sends a form with files. `fetch` cannot tell how far an upload is; XMLHttpRequest can.

export interface UploadOptions {
  signal: AbortSignal
  /** @param part from 0 to 1 */
  onProgress: (part: number) => void
}

/** @throws the signal's reason when it was aborted, and an Error when there is no answer */
export function uploadForm(
  url: string,
  form: FormData,
  headers: Record<string, string>,
  { signal, onProgress }: UploadOptions,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const request = new XMLHttpRequest()
  const abort = () => request.abort()
  signal.addEventListener('abort', abort, { once: true })
  request.open('POST', url)
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
  request.onload = () => resolve(new Response(request.responseText, { status: request.status }))
  request.onerror = () => reject(new Error('the upload has failed'))
  request.onabort = () => reject(signal.reason)
  request.onloadend = () => signal.removeEventListener('abort', abort)
  if (signal.aborted) reject(signal.reason)
  else request.send(form)
  return promise
}

/** A browser reads a file when it is sent. @returns false after somebody has changed, moved or deleted it */
export const isReadable = (file: File) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    )
