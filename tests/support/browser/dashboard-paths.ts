// Every page and dialog of the dashboard that has an address, for tests that go through all of them.

import type { Page } from 'playwright-core'
import { atScale } from '../suite.ts'
import type { FilledWorkspace } from '../users/fill-workspace.ts'

/** The settings of a form, of which one page more stands for all in the quick suite. */
const SETTINGS_PAGES = ['sending', 'spam', 'files', 'email', 'brand', 'privacy', 'general'].map(
  (page) => `/forms/{form}?tab=settings&page=${page}`,
)

/** Within a workspace. Names in braces are those of a filled workspace. */
const PAGES = [
  '/links',
  '/links?new=1',
  '/links?archived=true',
  '/links/{link}',
  '/links/trash',
  '/links/missing',
  '/links/destinations',
  '/analytics',
  '/analytics/compare',
  '/analytics/live',
  '/analytics/proofs',
  '/forms',
  '/forms?new=1',
  '/forms/{form}',
  '/forms/{form}?tab=gallery',
  '/forms/{form}?tab=settings',
  '/forms/{form}?tab=settings&page=fields',
  ...atScale({ quick: [], full: SETTINGS_PAGES, soak: SETTINGS_PAGES }),
  '/forms/{form}?tab=doctor',
  '/forms/{form}?tab=losses',
  '/inbox',
  '/inbox?open={submission}',
  '/inbox?status=unconfirmed',
  '/settings/tags',
  '/domains',
  '/domains?new=1',
  '/domains/{domain}',
  '/notifications',
  '/notifications?new=1',
  '/notifications?edit={channel}',
  '/notifications/deliveries',
  '/settings/transfer',
  '/settings/transfer?tab=export',
  '/settings',
  '/settings?tab=members',
  '/settings?tab=keys',
  '/settings?tab=tools',
  '/settings?tab=erasures',
  '/settings?tab=audit',
  '/settings?tab=health',
  '/settings?tab=account',
]
export const PUBLIC_PAGES =
  `/sign-in /sign-in?step=second-factor /sign-up /forgot /reset /reset?token=x /join?token=x
  /confirm-email?token=x /undo-email?token=x /setup /confirm /mail?token=x`.split(/\s+/)

/** The pages of a workspace that has something. */
export const listPaths = (ids: FilledWorkspace) =>
  PAGES.map((path) => path.replace(/\{(\w+)\}/g, (_, name) => String(ids[name as keyof FilledWorkspace])))

/** The pages of an empty workspace. */
export const EMPTY_PATHS = PAGES.filter((path) => !path.includes('{'))

/** The pixels by which the page is wider than the window, or the content of an open dialog wider than the dialog. */
export const measureOverflow = (page: Page) =>
  page.evaluate<number>(`Math.max(...[document.documentElement, ...document.querySelectorAll('[role=dialog], [role=dialog] .overflow-y-auto')]
    .map((box) => box.scrollWidth - box.clientWidth))`)
