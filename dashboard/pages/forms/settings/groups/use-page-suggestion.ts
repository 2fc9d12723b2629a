// Suggests the page of the form by its latest senders. A person decides, because a stranger can send a form with the
// address of any page.

import { useQuery } from '@tanstack/react-query'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { formSubmissionsQuery } from '../../../../api/inbox/newest-submissions.ts'
import { useApi } from '../../../../shell/use-workspace.ts'

/** @returns the page of the newest submission that names more than a site; '' where none does */
export function usePageSuggestion({ formKey }: Pick<FormResource, 'formKey'>): string | undefined {
  const { data } = useQuery(formSubmissionsQuery(useApi(), formKey))
  return data && (data.map(({ pageUrl }) => pageUrl).find(isPage) ?? '').split(/[?#]/)[0]
}

/** Not the bare origin that most browsers send, and not the dashboard's own preview of a form. */
const isPage = (page: string | null): page is string =>
  page !== null && URL.parse(page)?.pathname !== '/' && !page.startsWith(`${location.origin}/app`)
