// The fields of the dialog of a view, and the request that they make.

import type {
  AlertSettings,
  DifferenceAlert,
  UpdateViewInput,
  ViewResource,
} from '../../../../server/features/views/schema.ts'
import { toIso, toLocal } from '../../../ui/forms/local-time.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { toViewSettings } from './view-settings.ts'

export type AlertDraft = Omit<DifferenceAlert, 'when'> & {
  /** '' sends none. */
  when: '' | AlertSettings['when']
}

export interface ViewDraft {
  name: string
  takesPage: boolean
  isShared: boolean
  showLeads: boolean
  /** '' keeps a password that there is. */
  password: string
  hasPassword: boolean
  /** In the format of `datetime-local`. */
  expiresAt: string
  /** An origin a line. */
  embed: string
  /** '' sends none. */
  every: '' | 'day' | 'week' | 'month'
  at: string
  channelIds: number[]
  alert: AlertDraft
}

const NO_ALERT: AlertDraft = {
  when: '',
  metric: 'clicks',
  percent: 100,
  window: '1h',
  minimum: 50,
  channelIds: [],
}

export const toViewDraft = (view: ViewResource | undefined): ViewDraft => ({
  name: view?.name ?? '',
  takesPage: view === undefined,
  isShared: Boolean(view?.share),
  showLeads: view?.share?.showLeads ?? false,
  password: '',
  hasPassword: view?.share?.passwordProtected ?? false,
  expiresAt: toLocal(view?.share?.expiresAt ?? null),
  embed: view?.embed.join('\n') ?? '',
  every: view?.report?.every ?? '',
  at: view?.report?.at ?? '08:00',
  channelIds: view?.report?.channelIds ?? [],
  alert: { ...NO_ALERT, ...view?.alert },
})

export function toViewInput(draft: ViewDraft, page: AnalyticsView): UpdateViewInput & { name: string } {
  const { name, password, hasPassword, expiresAt, showLeads, alert } = draft
  return {
    name,
    ...(draft.takesPage && toViewSettings(page)),
    share: draft.isShared
      ? {
          showLeads,
          expiresAt: toIso(expiresAt),
          ...(hasPassword ? password !== '' && { password } : { password: null }),
        }
      : null,
    embed: draft.embed.split(/\s+/).filter(Boolean),
    report: draft.every === '' ? null : { every: draft.every, at: draft.at, channelIds: draft.channelIds },
    alert: toAlertInput(alert),
  }
}

function toAlertInput({ when, ...alert }: AlertDraft): UpdateViewInput['alert'] {
  if (when === '') return null
  const { window, channelIds } = alert
  return when === 'silent' ? { when, window, channelIds } : { when, ...alert }
}
