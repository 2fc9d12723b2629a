// Entries of the command palette: commands at once, and search results when typing pauses.

import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  Building2,
  FileText,
  Globe,
  Link2,
  LogOut,
  type LucideIcon,
  Mail,
  Monitor,
  Moon,
  Plus,
  Scale,
  SearchX,
  Settings,
  Sun,
  Trash2,
  Unlink,
} from 'lucide-react'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { domainsQuery } from '../api/domains.ts'
import { formNamesQuery } from '../api/forms.ts'
import { workspacesQuery } from '../api/session.ts'
import type { Submission } from '../api/submissions.ts'
import { toPreviewText, toSenderName } from '../pages/inbox/state/display-text.ts'
import { stripAroundUrl } from '../ui/forms/strip-around-url.ts'
import { useDebounced } from '../ui/forms/use-debounced.ts'
import { readTheme, setTheme } from '../ui/theme.ts'
import { INNER_PAGES, NAV_ITEMS } from './nav-items.tsx'
import { findPastedUrl, isOnHost, isShortUrlOf } from './pasted-url.ts'
import { useSignOut } from './use-sign-out.ts'
import { useApi, useCanEdit, useOperatedWorkspace, useWorkspace } from './use-workspace.ts'

export interface PaletteEntry {
  id: string
  label: string
  detail?: string
  icon: LucideIcon
  run: () => void
}

const RESULTS_MAX = 6
const SEARCH_MAX = 200
/** A pause of this length ends typing. */
const TYPING_MS = 180
/** One letter is in almost every submission. */
const SUBMISSION_SEARCH_MIN = 2

export function usePaletteEntries(text: string) {
  const trimmed = stripAroundUrl(text)
  const url = findPastedUrl(trimmed)
  const isShortUrl = useIsShortUrl(url)
  // A search for a short URL with its scheme finds that link only. The API takes no longer text than a short URL has.
  const search =
    url !== undefined && (isShortUrl || trimmed.length > SEARCH_MAX) ? url.replace(/[?#].*$/, '') : trimmed
  const commands = useCommands()
  const places = usePlaces()
  const { entries: results, links, ...state } = useResults(search)
  // The server has more names than the dashboard knows: the address may be a short URL until the links have been searched.
  const isForeign = url !== undefined && !isShortUrl && links?.every((link) => !isShortUrlOf(url, link))
  const shorten = useShortenEntry(isForeign ? url : undefined)
  const matches = ({ label }: PaletteEntry) => label.toLowerCase().includes(search.toLowerCase())
  return {
    entries: [
      ...shorten,
      ...commands.filter(matches),
      // They would bury the pages while nothing is typed.
      ...(search === '' ? [] : places.filter(matches)),
      ...results,
    ],
    ...state,
  }
}

const THEMES = [
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
  { theme: 'system', label: 'System', icon: Monitor },
] as const

/** What opens a page of the workspace. */
function useNavigation() {
  const { id } = useWorkspace()
  return { navigate: useNavigate(), params: { workspaceId: String(id) } }
}

const CREATIONS = [
  { to: '/$workspaceId/links', label: 'New link' },
  { to: '/$workspaceId/forms', label: 'New form' },
  { to: '/$workspaceId/domains', label: 'Add domain' },
] as const

function useCommands(): PaletteEntry[] {
  const { navigate, params } = useNavigation()
  const canEdit = useCanEdit()
  const current = readTheme()
  return [
    ...(canEdit ? CREATIONS : []).map(({ to, label }) => ({
      id: label,
      label,
      icon: Plus,
      run: () => void navigate({ to, params, search: { new: '1' } }),
    })),
    ...[...NAV_ITEMS, ...INNER_PAGES].map(({ to, label, icon }) => ({
      id: to,
      label,
      icon,
      run: () => void navigate({ to, params, search: {} }),
    })),
    ...THEMES.map(({ theme, label, icon }) => ({
      id: `theme ${theme}`,
      label: `Theme: ${label}`,
      detail: theme === current ? 'Current' : undefined,
      icon,
      run: () => setTheme(theme),
    })),
  ]
}

const SETTINGS_TABS = [
  { tab: 'members', label: 'Members' },
  { tab: 'keys', label: 'API keys' },
  { tab: 'tools', label: 'Tools' },
  { tab: 'utm', label: 'UTM templates' },
  { tab: 'erasures', label: 'Erasures' },
  { tab: 'audit', label: 'Audit log', needs: 'owner' },
  { tab: 'health', label: 'Server health', needs: 'operator' },
  { tab: 'account', label: 'Account' },
]

/** Pages that no sidebar and no shortcut has. */
const FURTHER_PAGES = [
  { to: '/$workspaceId/links/missing', label: '404s', detail: 'Links', icon: SearchX },
  { to: '/$workspaceId/links/destinations', label: 'Destinations', detail: 'Links', icon: Unlink },
  { to: '/$workspaceId/links/trash', label: 'Trash', detail: 'Links', icon: Trash2 },
  {
    to: '/$workspaceId/analytics/compare',
    label: 'Compare with another tool',
    detail: 'Analytics',
    icon: Scale,
  },
] as const

/** Further pages, the parts of the settings, the other workspaces, and the way out. */
function usePlaces(): PaletteEntry[] {
  const { navigate, params } = useNavigation()
  const { id: currentId, role } = useWorkspace()
  const operated = useOperatedWorkspace()
  const { data: workspaces } = useSuspenseQuery(workspacesQuery)
  const signOut = useSignOut()
  const isAllowed = ({ needs }: { needs?: string }) =>
    needs === undefined || (needs === 'owner' ? role === 'owner' : operated !== undefined)
  return [
    ...FURTHER_PAGES.map(({ to, ...entry }) => ({
      ...entry,
      id: to,
      run: () => void navigate({ to, params, search: {} }),
    })),
    ...SETTINGS_TABS.filter(isAllowed).map(({ tab, label }) => ({
      id: `settings ${tab}`,
      label,
      detail: 'Settings',
      icon: Settings,
      run: () => void navigate({ to: '/$workspaceId/settings', params, search: { tab } }),
    })),
    ...workspaces
      .filter(({ id }) => id !== currentId)
      .map(({ id, name }) => ({
        id: `workspace ${id}`,
        label: name,
        detail: 'Workspace',
        icon: Building2,
        run: () =>
          void navigate({ to: '/$workspaceId/links', params: { workspaceId: String(id) }, search: {} }),
      })),
    { id: 'sign out', label: 'Sign out', icon: LogOut, run: () => void signOut() },
  ]
}

/** Whether the address is on this server or on a domain of the workspace. */
function useIsShortUrl(url: string | undefined): boolean {
  const { data } = useQuery(domainsQuery(useApi()))
  return url !== undefined && isOnHost(url, [location.host, ...(data ?? []).map(({ domain }) => domain)])
}

/** A pasted address opens the editor of a new link with it. */
function useShortenEntry(url: string | undefined): PaletteEntry[] {
  const { navigate, params } = useNavigation()
  if (!useCanEdit() || url === undefined) return []
  const run = () => void navigate({ to: '/$workspaceId/links', params, search: { new: '1', url } })
  return [{ id: 'shorten', label: `Shorten ${url}`, icon: Link2, run }]
}

/** Answers belong to one text: while another text is typed or searched for, none are shown. */
function useResults(text: string) {
  const search = useDebounced(text, TYPING_MS)
  const isSettled = search === text
  const links = useLinkEntries(search)
  const forms = useFormEntries(text)
  const domains = useDomainEntries(text)
  const submissions = useSubmissionEntries(search)
  const all = [links, forms, domains, submissions]
  return {
    entries: [
      ...(isSettled ? links.entries : []),
      ...forms.entries,
      ...domains.entries,
      ...(isSettled ? submissions.entries : []),
    ],
    /** Undefined until they are searched. */
    links: isSettled && !links.isFetching ? links.found : undefined,
    isSearching: text !== '' && (!isSettled || all.some(({ isFetching }) => isFetching)),
    problems: isSettled ? all.flatMap(({ problem }) => problem ?? []) : [],
  }
}

interface Results {
  entries: PaletteEntry[]
  isFetching: boolean
  /** The reason that the search has failed. */
  problem: string | undefined
}

const toProblem = (what: string, error: Error | null) =>
  error ? `Couldn’t search ${what}: ${error.message}` : undefined

function useLinkEntries(search: string): Results & { found: LinkResource[] } {
  const api = useApi()
  const { navigate, params } = useNavigation()
  const query = { search, limit: RESULTS_MAX, sort: 'clicks' }
  const { data, isFetching, error } = useQuery({
    queryKey: [api.workspaceId, 'links', 'palette', search],
    queryFn: async ({ signal }) => (await api.page<LinkResource>('/links', { query, signal })).data,
    enabled: search !== '',
  })
  const found = search === '' ? [] : (data ?? [])
  const to = '/$workspaceId/links/$linkId'
  const entries = found.map((link) => ({
    id: `link ${link.id}`,
    label: link.title ?? `${link.domain}/${link.slug}`,
    detail: link.title ? `/${link.slug}` : link.destinationUrl,
    icon: Link2,
    run: () => void navigate({ to, params: { ...params, linkId: String(link.id) }, search: {} }),
  }))
  return { found, entries, isFetching, problem: toProblem('links', error) }
}

/** The first things whose name has the text; none for an empty text. */
const filterByName = <T>(things: T[] | undefined, text: string, toName: (thing: T) => string): T[] =>
  text === ''
    ? []
    : (things ?? [])
        .filter((thing) => toName(thing).toLowerCase().includes(text.toLowerCase()))
        .slice(0, RESULTS_MAX)

function useFormEntries(text: string): Results {
  const { navigate, params } = useNavigation()
  const { data, isFetching, error } = useQuery(formNamesQuery(useApi()))
  const to = '/$workspaceId/forms/$formKey'
  const entries = filterByName(data, text, ({ name }) => name).map(({ formKey, name }) => ({
    id: `form ${formKey}`,
    label: name,
    detail: 'Form',
    icon: FileText,
    run: () => void navigate({ to, params: { ...params, formKey }, search: {} }),
  }))
  return { entries, isFetching, problem: toProblem('forms', error) }
}

function useDomainEntries(text: string): Results {
  const { navigate, params } = useNavigation()
  const { data, isFetching, error } = useQuery(domainsQuery(useApi()))
  const to = '/$workspaceId/domains/$domainId'
  const entries = filterByName(data, text, ({ domain }) => domain).map(({ id, domain }) => ({
    id: `domain ${id}`,
    label: domain,
    detail: 'Domain',
    icon: Globe,
    run: () => void navigate({ to, params: { ...params, domainId: String(id) }, search: {} }),
  }))
  return { entries, isFetching, problem: toProblem('domains', error) }
}

function useSubmissionEntries(search: string): Results {
  const api = useApi()
  const { navigate, params } = useNavigation()
  const query = { search, limit: RESULTS_MAX }
  const isLongEnough = search.length >= SUBMISSION_SEARCH_MIN
  const { data, isFetching, error } = useQuery({
    queryKey: [api.workspaceId, 'submissions', 'search', search],
    queryFn: async ({ signal }) => (await api.page<Submission>('/submissions', { query, signal })).data,
    enabled: isLongEnough,
  })
  const entries = ((isLongEnough && data) || []).map((submission) => ({
    id: `submission ${submission.id}`,
    label: [toSenderName(submission), toPreviewText(submission)].filter(Boolean).join(' · '),
    detail: submission.formName,
    icon: Mail,
    run: () => {
      // Archived submissions and spam are found too, and open in the list that has them.
      const isInInbox = submission.status === 'new' || submission.status === 'read'
      const status = isInInbox ? undefined : submission.status
      const open = String(submission.id)
      void navigate({ to: '/$workspaceId/inbox', params, search: { status, open } })
    },
  }))
  return { entries, isFetching, problem: toProblem('submissions', error) }
}
