// The built-in texts for senders, by language. A language is a data file in `languages/`: its name is the language's code.

import { readdirSync, readFileSync } from 'node:fs'
import type english from './languages/en.json'

/** Texts with placeholders such as `{limit}`. */
export type Texts = typeof english
export type MessageKey = keyof Texts['messages']

export const DEFAULT_LANGUAGE = 'en'

const FOLDER = `${import.meta.dirname}/languages`

const readTexts = (file: string): Texts => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8'))

const TEXTS: ReadonlyMap<string, Texts> = new Map(
  readdirSync(FOLDER).map((file) => [file.replace('.json', ''), readTexts(file)]),
)
const ENGLISH = TEXTS.get(DEFAULT_LANGUAGE) as Texts

/** The codes of the built-in languages. */
export const LANGUAGES = [...TEXTS.keys()].sort()

export const hasTexts = (language: string) => TEXTS.has(language)

/** @returns the texts in English where the language has none */
export const getTexts = (language: string | null): Texts => TEXTS.get(language ?? '') ?? ENGLISH

/** The names of all messages about fields. A form may have its own text for each. */
export const MESSAGE_KEYS = Object.keys(ENGLISH.messages) as MessageKey[]

/** Puts values into the placeholders of a text. A placeholder without a value stays. */
export const fillText = (text: string, values: Record<string, string>) =>
  text.replace(/\{(\w+)\}/g, (placeholder, name) => new Map(Object.entries(values)).get(name) ?? placeholder)

/** Programs get `error` in English. People read the same in their language where a built-in text says it. */
export function translateError(error: string, { errors }: Texts): string {
  const key = Object.keys(ENGLISH.errors).find((name) => ENGLISH.errors[name as ErrorKey] === error)
  return key === undefined ? error : errors[key as ErrorKey]
}
type ErrorKey = keyof Texts['errors']
