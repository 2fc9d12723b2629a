// The form's own texts for mistakes, by language, for all fields or for one.

import { useState } from 'react'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { formatCount } from '../../../../ui/format.ts'
import { Field, Select, TextField } from '../../../../ui/forms/field.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { useFieldNames } from './use-field-names.ts'

type Messages = FormResource['messages']

/** The languages with built-in texts. */
const BUILT_IN = ['en', 'de', 'fr', 'es', 'pt', 'nl']
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

/** The rules that can fail, with the built-in English text. */
const RULES = [
  { rule: 'required', label: 'Empty', text: 'This field is required' },
  { rule: 'email', label: 'No e-mail address', text: 'Enter a valid email address' },
  { rule: 'url', label: 'No web address', text: 'Enter a valid web address' },
  { rule: 'tel', label: 'No phone number', text: 'Enter a valid phone number' },
  { rule: 'number', label: 'No number', text: 'Enter a number' },
  { rule: 'date', label: 'No date', text: 'Enter a valid date' },
  { rule: 'minLength', label: 'Too short', text: 'Enter at least {limit} characters' },
  { rule: 'maxLength', label: 'Too long', text: 'Enter at most {limit} characters' },
  { rule: 'pattern', label: 'Does not match the pattern', text: 'Enter a value in the right format' },
  { rule: 'oneOf', label: 'None of the choices', text: 'Choose one of the options' },
]

const languages = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'code' })

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
  const shown = RULES.map(({ rule }) => `messages.${locale}.${toKey(rule)}`)
  const hidden = Object.entries(errors).find(([path]) => /^messages\b/.test(path) && !shown.includes(path))
  return (
    <SettingsGroup
      id="messages"
      error={hidden && `${hidden[0].replace(/^messages\.?/, '')} ${hidden[1].toLowerCase()}`.trim()}
    >
      <p className="text-soft">
        What senders read when something is wrong, in the language of the page (its _lang field) or of their
        browser. Empty boxes use the built-in text.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <LanguageSelect messages={messages} value={locale} onChange={setLocale} />
        <FieldSelect names={useFieldNames(form, draft)} texts={texts} value={field} onChange={setField} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {RULES.map(({ rule, label, text }) => (
          <TextField
            key={rule}
            label={label}
            lang={locale}
            placeholder={locale === 'en' ? text : undefined}
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
  const all = [...new Set([...BUILT_IN, ...Object.keys(messages), ...OTHERS])]
  const own = (locale: string) => Object.keys(messages[locale] ?? {}).length
  return (
    <Field
      label="Language"
      hint={BUILT_IN.includes(value) ? undefined : 'Without a text of yours, senders read English.'}
    >
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          {all.map((locale) => (
            <option key={locale} value={locale}>
              {toLanguageName(locale)}
              {own(locale) > 0 && ` (${formatCount(own(locale), 'text')})`}
            </option>
          ))}
        </Select>
      )}
    </Field>
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
    <Field label="For">
      {(control) => (
        <Select {...control} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">All fields</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
              {own(name) > 0 && ` (${formatCount(own(name), 'text')})`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}
