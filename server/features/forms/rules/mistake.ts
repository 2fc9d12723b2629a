// A mistake in a field, before it has a language.

import type { FieldType } from './schema.ts'

export type Mistake =
  | { rule: 'required' | 'text' | 'noUploads' | 'pattern' | 'oneOf' | 'consent' }
  | { rule: 'captchaRequired' | 'captchaFailed' }
  | { rule: 'type'; type: FieldType }
  | { rule: 'minLength' | 'maxLength'; limit: number }
  | { rule: 'fileTooLarge'; limit: number }
  | { rule: 'tooManyFiles'; limit: number }
  | { rule: 'fileType'; accept: string[] }
  | { rule: 'fileRoom' }
