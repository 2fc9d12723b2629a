// What the server says of a form's input: by field, and under `all` what is about no field.

import { ApiError } from '../../api/client.ts'

export function toFieldErrors(error: Error | null): Record<string, string> {
  if (!error) return {}
  const fields = error instanceof ApiError ? error.errors : {}
  return Object.keys(fields).length > 0 ? fields : { all: error.message }
}
