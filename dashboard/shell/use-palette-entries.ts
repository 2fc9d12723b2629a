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
import { useEffect, useMemo, useState } from 'react'
import type { LinkResource } from '../../server/features/links/schema.ts'
import { domainsQuery } from '../api/domains.ts'
import { formNamesQuery } from '../api/forms.ts'
import { findSubmissionsQuery } from '../api/inbox/find-submissions.ts'
import { workspacesQuery } from '../api/session.ts'
import { toPreviewText, toSenderName } from '../pages/inbox/state/display-text.ts'
import { stripAroundUrl } from '../ui/forms/strip-around-url.ts'
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
  const entries = useMemo(() => {
    const lowerCase = search.toLowerCase()
    return [
      ...shorten,
      ...commands.filter(({ label }) => label.toLowerCase().includes(lowerCase)),
      // They would bury the pages while nothing is typed.
      ...(lowerCase === '' ? [] : places.filter(({ label }) => label.toLowerCase().includes(lowerCase))),
      ...results,
    ]
  }, [search, shorten, commands, places, results])
  return { entries, ...state }
}

const THEMES = [
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
  { theme: 'system', label: 'System', icon: Monitor },
] as const

function useCommands(): PaletteEntry[] {
  const navigate = useNavigate()
  const params = useParams()
  const canEdit = useCanEdit()
  return useMemo(() => {
    const search = { new: '1' }
    const creations: PaletteEntry[] = [
      {
        id: 'new link',
        label: 'New link',
        icon: Plus,
        run: () => void navigate({ to: '/$workspaceId/links', params, search }),
      },
      {
        id: 'new form',
        label: 'New form',
        icon: Plus,
        run: () => void navigate({ to: '/$workspaceId/forms', params, search }),
      },
      {
        id: 'new domain',
        label: 'Add domain',
        icon: Plus,
        run: () => void navigate({ to: '/$workspaceId/domains', params, search }),
      },
    ]
    const current = readTheme()
    return [
      ...(canEdit ? creations : []),
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
  }, [navigate, params, canEdit])
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
  const navigate = useNavigate()
  const params = useParams()
  const { id: currentId, role } = useWorkspace()
  const operated = useOperatedWorkspace()
  const { data: workspaces } = useSuspenseQuery(workspacesQuery)
  const signOut = useSignOut()
  return useMemo(() => {
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
  }, [navigate, params, currentId, role, operated, workspaces, signOut])
}

function useParams() {
  const { id } = useWorkspace()
  return useMemo(() => ({ workspaceId: String(id) }), [id])
}

/** Whether the address is on this server or on a domain of the workspace. */
function useIsShortUrl(url: string | undefined): boolean {
  const { data } = useQuery(domainsQuery(useApi()))
  return url !== undefined && isOnHost(url, [location.host, ...(data ?? []).map(({ domain }) => domain)])
}

/** A pasted address opens the editor of a new link with it. */
function useShortenEntry(url: string | undefined): PaletteEntry[] {
  const navigate = useNavigate()
  const params = useParams()
  const canEdit = useCanEdit()
  return useMemo(() => {
    if (!canEdit || url === undefined) return []
    const run = () => void navigate({ to: '/$workspaceId/links', params, search: { new: '1', url } })
    return [{ id: 'shorten', label: `Shorten ${url}`, icon: Link2, run }]
  }, [url, navigate, params, canEdit])
}

/** Answers belong to one text: while another text is typed or searched for, none are shown. */
function useResults(text: string) {
  const search = useSettledText(text)
  const isSettled = search === text
  const links = useLinkEntries(search)
  const forms = useFormEntries(text)
  const domains = useDomainEntries(text)
  const submissions = useSubmissionEntries(search)
  const entries = useMemo(
    () => [
      ...(isSettled ? links.entries : []),
      ...forms.entries,
      ...domains.entries,
      ...(isSettled ? submissions.entries : []),
    ],
    [isSettled, links.entries, forms.entries, domains.entries, submissions.entries],
  )
  const all = [links, forms, domains, submissions]
  return {
    entries,
    /** Undefined until they are searched. */
    links: isSettled && !links.isFetching ? links.found : undefined,
    isSearching: text !== '' && (!isSettled || all.some(({ isFetching }) => isFetching)),
    problems: isSettled ? all.flatMap(({ problem }) => problem ?? []) : [],
  }
}

function useSettledText(text: string) {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

interface Results {
  entries: PaletteEntry[]
  isFetching: boolean
  /** The searches that failed, and why. */
  problem: string | undefined
}

const NONE: never[] = []

const toProblem = (what: string, error: Error | null) =>
  error ? `Couldn’t search ${what}: ${error.message}` : undefined

function useLinkEntries(search: string): Results & { found: LinkResource[] } {
  const api = useApi()
  const navigate = useNavigate()
  const params = useParams()
  const { data, isFetching, error } = useQuery({
    queryKey: [api.workspaceId, 'links', 'palette', search],
    queryFn: async ({ signal }) =>
      (
        await api.page<LinkResource>('/links', {
          query: { search, limit: RESULTS_MAX, sort: 'clicks' },
          signal,
        })
      ).data,
    enabled: search !== '',
  })
  const entries = useMemo(() => {
    const to = '/$workspaceId/links/$linkId'
    return (data ?? NONE).map((link) => ({
      id: `link ${link.id}`,
      label: link.title ?? `${link.domain}/${link.slug}`,
      detail: link.title ? `/${link.slug}` : link.destinationUrl,
      icon: Link2,
      run: () => void navigate({ to, params: { ...params, linkId: String(link.id) }, search: {} }),
    }))
  }, [data, navigate, params])
  const found = search === '' ? NONE : (data ?? NONE)
  return {
    found,
    entries: search === '' ? NONE : entries,
    isFetching,
    problem: toProblem('links', error),
  }
}

function useFormEntries(text: string): Results {
  const api = useApi()
  const navigate = useNavigate()
  const params = useParams()
  const { data, isFetching, error } = useQuery(formNamesQuery(api))
  const entries = useMemo(() => {
    const to = '/$workspaceId/forms/$formKey'
    const lowerCase = text.toLowerCase()
    const matches = (data ?? NONE).filter(({ name }) => name.toLowerCase().includes(lowerCase))
    return matches.slice(0, RESULTS_MAX).map(({ formKey, name }) => ({
      id: `form ${formKey}`,
      label: name,
      detail: 'Form',
      icon: FileText,
      run: () => void navigate({ to, params: { ...params, formKey }, search: {} }),
    }))
  }, [text, data, navigate, params])
  return { entries: text === '' ? NONE : entries, isFetching, problem: toProblem('forms', error) }
}

function useDomainEntries(text: string): Results {
  const api = useApi()
  const navigate = useNavigate()
  const params = useParams()
  const { data, isFetching, error } = useQuery(domainsQuery(api))
  const entries = useMemo(() => {
    const to = '/$workspaceId/domains/$domainId'
    const lowerCase = text.toLowerCase()
    const matches = (data ?? NONE).filter(({ domain }) => domain.includes(lowerCase))
    return matches.slice(0, RESULTS_MAX).map(({ id, domain }) => ({
      id: `domain ${id}`,
      label: domain,
      detail: 'Domain',
      icon: Globe,
      run: () => void navigate({ to, params: { ...params, domainId: String(id) }, search: {} }),
    }))
  }, [text, data, navigate, params])
  return { entries: text === '' ? NONE : entries, isFetching, problem: toProblem('domains', error) }
}

function useSubmissionEntries(search: string): Results {
  const api = useApi()
  const navigate = useNavigate()
  const params = useParams()
  const isLongEnough = search.length >= SUBMISSION_SEARCH_MIN
  const { data, isFetching, error } = useQuery({
    ...findSubmissionsQuery(api, search, RESULTS_MAX),
    enabled: isLongEnough,
  })
  const entries = useMemo(
    () =>
      (data ?? NONE).map((submission) => ({
        id: `submission ${submission.id}`,
        label: [toSenderName(submission), toPreviewText(submission)].filter(Boolean).join(' · '),
        detail: submission.formName,
        icon: Mail,
        run: () => {
          // Archived submissions and spam are found too, and open in the list that has them.
          const isInInbox = submission.status === 'new' || submission.status === 'read'
          const status = isInInbox ? undefined : submission.status
          void navigate({
            to: '/$workspaceId/inbox',
            params,
            search: { status, open: String(submission.id) },
          })
        },
      })),
    [data, navigate, params],
  )
  return { entries: isLongEnough ? entries : NONE, isFetching, problem: toProblem('submissions', error) }
}
