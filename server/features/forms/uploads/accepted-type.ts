// Decides whether a form accepts a file: by the type that its bytes show, and for rules such as `.pdf` by its name too.

import { toEnding } from './file-name.ts'
import { PLAIN_TEXT, type SniffedType, UNKNOWN_TYPE } from './sniff-type.ts'

/** Texts have no signature: their name says which kind they are, and their bytes only that they are text. */
const TEXT_TYPES: Record<string, string> = {
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  tab: 'text/tab-separated-values',
  md: 'text/markdown',
  json: 'application/json',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  ics: 'text/calendar',
  vcf: 'text/vcard',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
}
const TEXT_SIGNATURES = /^(?:text\/|application\/(?:xml|pgp-encrypted|x-ms-regedit)$)/

/** Endings of one kind of file: the bytes show any of them. */
const SAME_KIND = [
  ['jpg', 'jpeg', 'jpe', 'jfif'],
  ['png', 'apng'],
  // Cameras write their raw pictures as TIFF.
  ['tif', 'tiff', 'dng', 'nef', 'cr2', 'arw', 'rw2', 'orf', 'pef', 'srw'],
  ['heic', 'heif'],
  ['mp4', 'm4v', 'm4a', 'mov', 'qt'],
  ['ogg', 'oga', 'ogv', 'ogx', 'opus'],
  ['mkv', 'webm', 'mka'],
  ['mp3', 'mp2', 'mpga'],
  ['mpg', 'mpeg'],
  ['mid', 'midi'],
  ['aif', 'aiff'],
  ['asf', 'wma', 'wmv'],
  ['gz', 'tgz'],
  ['pdf', 'ai'],
  ['ps', 'eps', 'ai'],
  // Word saves RTF under this name, too.
  ['doc', 'rtf'],
]

/** Documents that may look like their container only, by the type that pages name them with. */
const DOCUMENT_ENDINGS: Record<string, string> = {
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.ms-outlook': 'msg',
}
const IN_ZIP = /^(?:doc[xm]|xls[xm]|pp[ts][xm]|od[tspg]|epub|pages|numbers|key|jar|apk|kmz)$/
/** A password puts these into the older container. */
const PROTECTABLE = /^(?:doc[xm]|xls[xmb]|pp[ts][xm])$/
const IN_CFB = /^(?:doc|xls|ppt|pps|msg|msi|vsd|pub)$/
const CONTAINERS = ['application/zip', 'application/x-cfb', 'application/gzip', 'application/x-sqlite3']

/** Other names that pages use for a type. */
const SYNONYMS: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/m4a': 'audio/x-m4a',
  'video/avi': 'video/vnd.avi',
  'video/x-msvideo': 'video/vnd.avi',
  'video/x-matroska': 'video/matroska',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
  'application/x-pdf': 'application/pdf',
  'text/xml': 'application/xml',
  'text/rtf': 'application/rtf',
  'text/x-csv': 'text/csv',
  'application/csv': 'text/csv',
  'application/x-csv': 'text/csv',
  'text/comma-separated-values': 'text/csv',
}

export interface JudgedFile extends SniffedType {
  name: string
}

/** @param accept rules such as `image/*`, `application/pdf` and `.pdf`; any file where there is none */
export function isAccepted(accept: string[], file: JudgedFile): boolean {
  if (accept.length === 0) return true
  const ending = toEnding(file.name)
  return accept.some((rule) => {
    if (rule.startsWith('.'))
      return file.name.toLowerCase().endsWith(rule) && fitsEnding(toEnding(rule), file)
    return fitsType(SYNONYMS[rule] ?? rule, ending, file)
  })
}

function fitsType(rule: string, ending: string, file: JudgedFile): boolean {
  if (rule === '*/*' || rule === file.type) return true
  // SVG and HTML show only that they are text: `image/*` does not let them in.
  if (rule === 'text/*') return TEXT_SIGNATURES.test(file.type)
  if (rule.endsWith('/*')) return file.type.startsWith(rule.slice(0, -1))
  const namesEnding = TEXT_TYPES[ending] === rule || (ending !== '' && DOCUMENT_ENDINGS[rule] === ending)
  return namesEnding && fitsEnding(ending, file)
}

/** The bytes do not contradict the ending. */
function fitsEnding(ending: string, { type, shown, isKnownEnding }: JudgedFile): boolean {
  if (shown === ending) return true
  if (TEXT_TYPES[ending]) return TEXT_SIGNATURES.test(type)
  if (shown !== undefined && SAME_KIND.some((kind) => kind.includes(ending) && kind.includes(shown)))
    return true
  if (PROTECTABLE.test(ending) && type === 'application/x-cfb') return true
  if (IN_ZIP.test(ending)) return type === 'application/zip'
  if (IN_CFB.test(ending)) return type === 'application/x-cfb'
  // Files of this kind need a signature, and this one has none.
  if (isKnownEnding(ending)) return false
  return [...CONTAINERS, PLAIN_TEXT, UNKNOWN_TYPE].includes(type)
}
