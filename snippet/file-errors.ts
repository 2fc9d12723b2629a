// Checks chosen files before they are sent, so that a visitor learns immediately that a file is too large. The server
// decides, because it checks the content, and the browser only the names.

import type { FormInfo, UploadLimits } from './form-info.ts'

const matches = ({ name, type }: File, rule: string) =>
  rule.startsWith('.')
    ? name.toLowerCase().endsWith(rule)
    : // The browser does not know the type: the server will.
      !type || type === rule || (rule.endsWith('/*') && type.startsWith(rule.slice(0, -1)))

const isAccepted = (file: File, { accept }: UploadLimits) =>
  accept.length === 0 || accept.some((rule) => matches(file, rule))

/** @returns messages by the name of the file input */
export function findFileErrors(
  body: FormData,
  { uploads, texts = {} }: Partial<FormInfo>,
): Record<string, string> {
  const errors = new Map<string, string>()
  let count = 0
  for (const [name, value] of body) {
    // An empty file input has one file without a name.
    if (typeof value === 'string' || !value.name) continue
    count++
    if (!uploads) errors.set(name, texts.noUploads || 'File uploads are not supported')
    else if (value.size > uploads.maxBytes) errors.set(name, texts.fileTooLarge || 'This file is too large')
    else if (!isAccepted(value, uploads))
      errors.set(name, texts.fileType || 'This type of file is not accepted')
    else if (count > uploads.maxFiles) errors.set(name, texts.tooManyFiles || 'Too many files')
  }
  return Object.fromEntries(errors)
}
