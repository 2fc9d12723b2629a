// The settings of a form while they are edited, and the pages and boxes that show them.

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

/** The pages of the settings, in the order of the side nav. */
export const SETTINGS_PAGES = [
  { id: 'notifications', title: 'Notifications' },
  { id: 'fields', title: 'Fields' },
  { id: 'sending', title: 'After sending' },
  { id: 'spam', title: 'Spam' },
  { id: 'files', title: 'Files' },
  { id: 'email', title: 'Email' },
  { id: 'brand', title: 'Brand' },
  { id: 'privacy', title: 'Privacy' },
  { id: 'general', title: 'General' },
] as const
export type PageId = (typeof SETTINGS_PAGES)[number]['id']

interface GroupOfSettings {
  id: string
  page: PageId
  title: string
  settings: SettingName[]
}

/** The boxes of the pages. */
export const GROUPS = [
  { id: 'notifications', page: 'notifications', title: 'Notifications', settings: ['channelIds'] },
  { id: 'fields', page: 'fields', title: 'Fields and rules', settings: ['requiredFields', 'rules'] },
  { id: 'messages', page: 'fields', title: 'Error messages', settings: ['messages'] },
  {
    id: 'sending',
    page: 'sending',
    title: 'After sending',
    settings: ['successMessage', 'pageUrl', 'redirectUrl', 'nextHosts', 'afterSubmit', 'onError'],
  },
  {
    id: 'spam',
    page: 'spam',
    title: 'Protection',
    settings: ['captcha', 'allowedOrigins', 'perAddress'],
  },
  { id: 'filter', page: 'spam', title: 'Spam filter', settings: ['spam', 'spamRetentionDays'] },
  { id: 'files', page: 'files', title: 'Files', settings: ['uploads'] },
  { id: 'reply', page: 'email', title: 'Auto-reply', settings: ['reply'] },
  { id: 'brand', page: 'brand', title: 'Brand', settings: ['brand'] },
  { id: 'consent', page: 'privacy', title: 'Consent', settings: ['consent', 'adClickIds'] },
  { id: 'keep', page: 'privacy', title: 'Retention', settings: ['retentionDays'] },
  { id: 'form', page: 'general', title: 'General', settings: ['name', 'enabled'] },
] as const satisfies GroupOfSettings[]
export type GroupId = (typeof GROUPS)[number]['id']

/** Their controls show no error, because no value that they send can be wrong. */
const WITHOUT_ERRORS: SettingName[] = ['afterSubmit', 'onError', 'captcha', 'adClickIds', 'enabled']

/** Errors of other settings are shown above the form, with the names of their fields. */
export const SHOWN_SETTINGS: string[] = SETTING_NAMES.filter((name) => !WITHOUT_ERRORS.includes(name))

/** @param id of a page, or of a box in it, as addresses of earlier versions have it */
export const findSettingsPage = (id: string): PageId =>
  SETTINGS_PAGES.find((page) => page.id === id)?.id ??
  GROUPS.find((group) => group.id === id)?.page ??
  SETTINGS_PAGES[0].id

/** @param paths names of the API, such as `rules.phone.pattern`, or names of settings */
export function listPagesOf(paths: string[]): PageId[] {
  const isIn = (group: GroupOfSettings) =>
    paths.some((path) => group.settings.some((name) => path === name || path.startsWith(`${name}.`)))
  const pages = GROUPS.filter(isIn).map(({ page }) => page)
  return SETTINGS_PAGES.map(({ id }) => id).filter((id) => pages.includes(id))
}

const isEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** The settings of the draft that differ from the stored ones. */
export const findChanges = (draft: FormDraft, form: FormResource): FormChanges =>
  Object.fromEntries(
    SETTING_NAMES.filter((name) => !isEqual(draft[name], form[name])).map((name) => [name, draft[name]]),
  )
