// The settings of a form while they are edited, and the groups in which the page shows them.

import type { FormResource } from '../../../../server/features/forms/schema.ts'
import type { FormChanges } from '../../../api/forms.ts'

interface UploadsDraft {
  /** An empty number is null: the server takes the number of a new form. */
  maxFiles: number | null
  maxBytes: number | null
  accept: string[]
}

const SETTING_NAMES = [
  'name',
  'enabled',
  'requiredFields',
  'rules',
  'messages',
  'redirectUrl',
  'pageUrl',
  'afterSubmit',
  'onError',
  'captcha',
  'successMessage',
  'allowedOrigins',
  'perAddress',
  'nextHosts',
  'channelIds',
  'uploads',
  'reply',
  'spam',
  'spamRetentionDays',
  'consent',
  'adClickIds',
  'retentionDays',
  'brand',
] as const
type SettingName = (typeof SETTING_NAMES)[number]

export type FormDraft = Omit<
  Pick<FormResource, SettingName>,
  'uploads' | 'perAddress' | 'spamRetentionDays'
> & {
  uploads: UploadsDraft | null
  perAddress: number | null
  spamRetentionDays: number | null
}

/** The props of a group of settings. Errors have the names of the API, such as `rules.phone.pattern`. */
export interface GroupProps {
  form: FormResource
  draft: FormDraft
  set: (part: Partial<FormDraft>) => void
  errors: Record<string, string>
}

interface GroupOfSettings {
  id: string
  title: string
  settings: SettingName[]
}

/** In the order of the page. */
export const GROUPS = [
  { id: 'form', title: 'Form', settings: ['name'] },
  { id: 'fields', title: 'Fields and rules', settings: ['requiredFields', 'rules'] },
  { id: 'messages', title: 'Messages', settings: ['messages'] },
  {
    id: 'sending',
    title: 'After sending',
    settings: ['successMessage', 'pageUrl', 'redirectUrl', 'nextHosts'],
  },
  { id: 'brand', title: 'Brand', settings: ['brand'] },
  { id: 'files', title: 'Files', settings: ['uploads'] },
  { id: 'reply', title: 'Auto-reply', settings: ['reply'] },
  { id: 'spam', title: 'Spam', settings: ['allowedOrigins', 'perAddress', 'spam', 'spamRetentionDays'] },
  { id: 'consent', title: 'Consent', settings: ['consent', 'adClickIds'] },
  { id: 'keep', title: 'Retention', settings: ['retentionDays'] },
  { id: 'notifications', title: 'Notifications', settings: ['channelIds'] },
] as const satisfies GroupOfSettings[]
export type GroupId = (typeof GROUPS)[number]['id']

/** Errors of other settings are shown above the form, with the names of their fields. */
export const SHOWN_SETTINGS: string[] = GROUPS.flatMap(({ settings }) => [...settings])

export const findGroupErrors = ({ settings }: GroupOfSettings, errors: Record<string, string>) =>
  Object.keys(errors).filter((path) => settings.some((name) => path === name || path.startsWith(`${name}.`)))

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The settings of the draft that differ from the stored ones. */
export const findChanges = (draft: FormDraft, form: FormResource): FormChanges =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => !isEqual(draft[name], form[name])).map((name) => [name, draft[name]]),
  )
