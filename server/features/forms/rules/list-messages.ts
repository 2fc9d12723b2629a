// Lists the messages that a form can answer in one language: the snippet shows no other text from a page's address.

import { describeMistake, type MessageSource } from './describe-mistakes.ts'
import type { Mistake } from './mistake.ts'
import type { FieldRules } from './schema.ts'

interface MessagesForm {
  requiredFields: string[]
  captcha: boolean
  rules: FieldRules
  uploads: FileLimits | null
  consent: { field: string } | null
}

interface FileLimits {
  maxFiles: number
  maxBytes: number
  accept: string[]
}

/** Represents fields without their own text in the form. No field has this name. */
const ANY_FIELD = ''

/** @returns each message once */
export function listMessages(source: MessageSource, form: MessagesForm): string[] {
  const said = new Set<string>()
  const say = (field: string, mistakes: Mistake[]) => {
    for (const mistake of mistakes) said.add(describeMistake(source, field, mistake))
  }
  for (const field of [ANY_FIELD, ...form.requiredFields]) say(field, [{ rule: 'required' }])
  say('email', [{ rule: 'type', type: 'email' }])
  say(ANY_FIELD, [{ rule: 'text' }])
  for (const [field, rule] of Object.entries(form.rules)) say(field, listRuleMistakes(rule))
  if (form.consent) say(form.consent.field, [{ rule: 'consent' }])
  const fileMistakes: Mistake[] = form.uploads ? listFileMistakes(form.uploads) : [{ rule: 'noUploads' }]
  // Only the page knows its file fields.
  for (const field of new Set([ANY_FIELD, ...listNamedFields(source)])) say(field, fileMistakes)
  if (form.captcha) say(ANY_FIELD, [{ rule: 'captchaRequired' }, { rule: 'captchaFailed' }])
  return [...said]
}

/** The snippet's messages about a file before it is sent. Only the server uses a form's own text for one field. */
export function describeFileMistakes(
  source: MessageSource,
  limits: FileLimits | null,
): Record<string, string> {
  const mistakes: Mistake[] = limits ? listFileMistakes(limits) : [{ rule: 'noUploads' }]
  return Object.fromEntries(
    mistakes.map((mistake) => [mistake.rule, describeMistake(source, ANY_FIELD, mistake)]),
  )
}

const listFileMistakes = ({ maxFiles, maxBytes, accept }: FileLimits): Mistake[] => [
  { rule: 'fileTooLarge', limit: maxBytes },
  { rule: 'tooManyFiles', limit: maxFiles },
  { rule: 'fileType', accept },
  { rule: 'fileRoom' },
]

function listRuleMistakes({ type, minLength, maxLength, pattern, oneOf }: FieldRules[string]): Mistake[] {
  const mistakes: Mistake[] = []
  if (type !== undefined) mistakes.push({ rule: 'type', type })
  if (minLength !== undefined) mistakes.push({ rule: 'minLength', limit: minLength })
  if (maxLength !== undefined) mistakes.push({ rule: 'maxLength', limit: maxLength })
  if (pattern !== undefined) mistakes.push({ rule: 'pattern' })
  if (oneOf !== undefined) mistakes.push({ rule: 'oneOf' })
  return mistakes
}

/** The fields that the form has texts for. */
const listNamedFields = ({ language, messages }: MessageSource): string[] =>
  language.own.flatMap((locale) =>
    Object.keys(messages[locale] ?? {}).flatMap((name) =>
      name.includes('.') ? [name.slice(0, name.lastIndexOf('.'))] : [],
    ),
  )
