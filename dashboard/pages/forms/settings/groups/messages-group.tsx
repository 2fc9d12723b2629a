// The form's own texts for mistakes, by language, for all fields or for one.

import { useState } from 'react'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { locale } from '../../../../api/language.ts'
import { formatCount } from '../../../../ui/format.ts'
import { SelectField, TextField } from '../../../../ui/forms/field.tsx'
import type { FormDraft, GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { BUILT_IN_LANGUAGES, getBuiltInTexts } from './built-in-texts.ts'
import { useFieldNames } from './use-field-names.ts'

type Messages = FormResource['messages']

/** Common languages without built-in texts. */
const OTHERS = [
  'it',
  'pl',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'ro',
  'hu',
  'el',
  'tr',
  'uk',
  'ar',
  'he',
  'hi',
  'ja',
  'ko',
  'zh',
]

/** Kinds of mistakes, under the names of the API. */
const RULES: { rule: string; label: string; isUsed?: (draft: FormDraft) => boolean }[] = [
  { rule: 'required', label: 'Empty' },
  { rule: 'email', label: 'No email address' },
  { rule: 'url', label: 'No web address' },
  { rule: 'tel', label: 'No phone number' },
  { rule: 'number', label: 'No number' },
  { rule: 'date', label: 'No date' },
  { rule: 'minLength', label: 'Too short' },
  { rule: 'maxLength', label: 'Too long' },
  { rule: 'pattern', label: 'Does not match the pattern' },
  { rule: 'oneOf', label: 'None of the choices' },
  { rule: 'consent', label: 'No consent', isUsed: ({ consent }) => consent !== null },
  { rule: 'fileTooLarge', label: 'File too large', isUsed: ({ uploads }) => uploads !== null },
  { rule: 'tooManyFiles', label: 'Too many files', isUsed: ({ uploads }) => uploads !== null },
  { rule: 'fileType', label: 'Wrong type of file', isUsed: ({ uploads }) => uploads !== null },
  { rule: 'captchaRequired', label: 'Captcha missing', isUsed: ({ captcha }) => captcha },
  { rule: 'captchaFailed', label: 'Captcha failed', isUsed: ({ captcha }) => captcha },
]

const languages = new Intl.DisplayNames(locale, { type: 'language', fallback: 'code' })

function toLanguageName(locale: string): string {
  try {
    return languages.of(locale) ?? locale
  } catch {
    return locale
  }
}

/** Without texts that are empty, and without languages that have none left. */
function setMessage(messages: Messages, locale: string, key: string, text: string): Messages {
  const { [key]: _, ...texts } = messages[locale] ?? {}
  if (text !== '') texts[key] = text
  const { [locale]: __, ...rest } = messages
  return Object.keys(texts).length > 0 ? { ...rest, [locale]: texts } : rest
}

export function MessagesGroup({ form, draft, set, errors }: GroupProps) {
  const { messages } = draft
  const [locale, setLocale] = useState(() => Object.keys(messages)[0] ?? 'en')
  const [field, setField] = useState('')
  const toKey = (rule: string) => (field === '' ? rule : `${field}.${rule}`)
  const texts = messages[locale] ?? {}
  const builtIn = getBuiltInTexts(locale)
  const rules = RULES.filter(({ isUsed }) => isUsed?.(draft) ?? true)
  const shown = rules.map(({ rule }) => `messages.${locale}.${toKey(rule)}`)
  const hidden = Object.entries(errors).find(([path]) => /^messages\b/.test(path) && !shown.includes(path))
  return (
    <SettingsGroup id="messages" error={hidden && `${hidden[0].replace(/^messages\.?/, '')}: ${hidden[1]}`}>
      <p className="text-soft">
        Error messages for senders, in the language of the page (its field _lang) or of their browser. Empty
        boxes use the built-in text. <code>{'{limit}'}</code> becomes the limit.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <LanguageSelect messages={messages} value={locale} onChange={setLocale} />
        <FieldSelect names={useFieldNames(form, draft)} texts={texts} value={field} onChange={setField} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {rules.map(({ rule, label }) => (
          <TextField
            key={rule}
            label={label}
            lang={locale}
            placeholder={builtIn[rule]}
            maxLength={500}
            autoComplete="off"
            value={texts[toKey(rule)] ?? ''}
            onChange={(event) =>
              set({ messages: setMessage(messages, locale, toKey(rule), event.target.value) })
            }
            error={errors[`messages.${locale}.${toKey(rule)}`]}
          />
        ))}
      </div>
    </SettingsGroup>
  )
}

interface SelectProps {
  value: string
  onChange: (value: string) => void
}

function LanguageSelect({ messages, value, onChange }: SelectProps & { messages: Messages }) {
  const all = [...new Set([...BUILT_IN_LANGUAGES, ...Object.keys(messages), ...OTHERS])]
  const own = (locale: string) => Object.keys(messages[locale] ?? {}).length
  return (
    <SelectField
      label="Language"
      hint={BUILT_IN_LANGUAGES.includes(value) ? undefined : 'Without your own text, senders see English.'}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {all.map((locale) => (
        <option key={locale} value={locale}>
          {toLanguageName(locale)}
          {own(locale) > 0 && ` (${formatCount(own(locale), 'text')})`}
        </option>
      ))}
    </SelectField>
  )
}

function FieldSelect({
  names,
  texts,
  value,
  onChange,
}: SelectProps & { names: string[]; texts: Record<string, string> }) {
  const own = (name: string) => Object.keys(texts).filter((key) => key.startsWith(`${name}.`)).length
  return (
    <SelectField label="For" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All fields</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
          {own(name) > 0 && ` (${formatCount(own(name), 'text')})`}
        </option>
      ))}
    </SelectField>
  )
}
