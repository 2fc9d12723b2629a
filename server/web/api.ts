// Routes of signed-in people and of programs: /v1 by feature, /mcp, and the sign-in. The route map loads this file
// after the server listens, because it is a third of the code, and visitors of links and forms do not need it.

import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { type ApiEnv, createApi } from '../features/accounts/access/api-env.ts'
import { freshOnly } from '../features/accounts/access/fresh-session.ts'
import { createGuard } from '../features/accounts/access/guard.ts'
import { createIdempotency } from '../features/accounts/access/idempotency.ts'
import { peopleOnly } from '../features/accounts/access/require-person.ts'
import { limitAnswer, requireScope } from '../features/accounts/access/require-scope.ts'
import { createAccountsApi } from '../features/accounts/api.ts'
import { createAuditApi } from '../features/accounts/audit-api.ts'
import { createAuthEndpoints } from '../features/accounts/public.ts'
import { createAnalyticsApi } from '../features/analytics/api.ts'
import { createAnalyticsBatchApi } from '../features/analytics/batch-api.ts'
import { createLinkClicksApi } from '../features/analytics/feed/link-clicks-api.ts'
import { createLeadsApi } from '../features/analytics/leads-api.ts'
import { createMissingApi } from '../features/analytics/missing/missing-api.ts'
import { createSparklinesApi } from '../features/analytics/sparklines-api.ts'
import { createDestinationsApi } from '../features/destinations/api.ts'
import { createDoctorApi } from '../features/doctor/api.ts'
import { createDoctorRoutes } from '../features/doctor/public.ts'
import { createFormsApi } from '../features/forms/api.ts'
import { createLossesApi } from '../features/forms/attempts/losses.ts'
import { createFormTestApi } from '../features/forms/endpoint/test-api.ts'
import { createErasureApi } from '../features/forms/erasure/erasure-api.ts'
import { createFilesApi } from '../features/forms/files-api.ts'
import { createSubmissionApi } from '../features/forms/own-server/create-submission.ts'
import { createFormCheckApi } from '../features/forms/page-check/check-api.ts'
import { createAllowedSendersApi } from '../features/forms/spam/allowed-senders-api.ts'
import { createTeamRepliesApi } from '../features/forms/team-replies-api.ts'
import { createLinksApi } from '../features/links/api.ts'
import { createCardsApi } from '../features/links/cards/cards-api.ts'
import { createDomainsApi } from '../features/links/domains/domains-api.ts'
import { createFaviconsApi } from '../features/links/favicons/favicons-api.ts'
import { createQrApi } from '../features/links/qr/qr-api.ts'
import { createTagsApi } from '../features/links/tags/tags-api.ts'
import { createTrashApi } from '../features/links/trash/trash-api.ts'
import { createUtmTemplatesApi } from '../features/links/utm-templates/utm-templates-api.ts'
import { createLiveApi } from '../features/live/api.ts'
import { createMcpEndpoint, requireKey, requirePost } from '../features/mcp/public.ts'
import { createNotifyApi } from '../features/notify/api.ts'
import { createMailRoutes } from '../features/notify/public.ts'
import { createOutcomesApi } from '../features/outcomes/api.ts'
import { createProofsApi } from '../features/proofs/api.ts'
import { createReconcileApi } from '../features/reconcile/api.ts'
import { createRedirectApi } from '../features/redirect/api.ts'
import { createSplitsApi } from '../features/splits/api.ts'
import { createImportsApi } from '../features/transfer/api.ts'
import { createExportApi } from '../features/transfer/export-api.ts'
import { createOutcomeImportApi } from '../features/transfer/outcomes-api.ts'
import { createViewsApi } from '../features/views/api.ts'
import { createSharedViews } from '../features/views/public.ts'
import { jsonBody } from '../http/json-body.ts'
import {
  answerApiFailure,
  describeApi,
  findRoute,
  logRequests,
  onSocket,
  type RestNeeds,
  requireReadableQuery,
  requireRoute,
} from './rest.ts'

/** Dependencies of this file's routes. */
export interface LaterNeeds {
  api: ApiNeeds
  signIn: Parameters<typeof createAuthEndpoints>[0]
  sharedViews: Parameters<typeof createSharedViews>[0]
  mailRoutes: Parameters<typeof createMailRoutes>[0]
  doctorRoutes: Parameters<typeof createDoctorRoutes>[0]
}

const FEATURES = [
  createAccountsApi,
  createAuditApi,
  createTrashApi, // above `/links/{id}`
  createCardsApi, // above `/links/{id}`
  createFaviconsApi, // above `/links/{id}`
  createExportApi, // above `/links/{id}`
  createLinkClicksApi,
  createLinksApi,
  createQrApi,
  createTagsApi,
  createUtmTemplatesApi,
  createDestinationsApi,
  createDomainsApi,
  createRedirectApi,
  createSplitsApi,
  createAnalyticsApi,
  createSparklinesApi,
  createLeadsApi,
  createAnalyticsBatchApi,
  createLiveApi,
  createMissingApi,
  createReconcileApi,
  createProofsApi,
  createErasureApi, // above `/submissions/{id}`
  createFormsApi,
  createSubmissionApi,
  createFilesApi,
  createTeamRepliesApi,
  createLossesApi,
  createFormTestApi,
  createAllowedSendersApi,
  createOutcomesApi,
  createOutcomeImportApi,
  createViewsApi,
  createFormCheckApi,
  createNotifyApi,
  createDoctorApi,
  createImportsApi,
]

/** Everything that one of the features needs. start/api-needs.ts makes it. */
export type ApiNeeds = NeedsOfAll<(typeof FEATURES)[number]> & RestNeeds

type NeedsOfAll<Create> = [Create] extends [(needs: infer Needs) => unknown] ? Needs : never

/** /v1: the gates in the order in which a request passes them, and then the features' routes. */
export function restApi(needs: RestNeeds, features: OpenAPIHono<ApiEnv>[]) {
  const api = createApi().basePath('/v1')
  api.onError(answerApiFailure)
  api.use(logRequests)
  api.get('/openapi.json', describeApi(api, needs)) // open to anybody: the only route above the guard
  api.use(findRoute(api))
  api.use(createGuard(needs)) // 401, 403 for the plan, 429
  api.use(requireRoute) // 404, 405
  api.use(requireScope) // 403 for an API key
  api.use(limitAnswer) // the answer to a key that may write and not read
  api.use(freshOnly(needs)) // 403 for a person's session that is not fresh
  api.use(requireReadableQuery) // 422
  api.use(jsonBody((c: Context<ApiEnv>) => c.get('facts')?.body ?? 'object')) // 400, 413, 415
  api.use(createIdempotency(needs))
  api.use(peopleOnly) // 403 for an API key
  for (const feature of features) api.route('/', feature)
  return api
}

/** /mcp: the gates in the order in which a request passes them, and then the tools, which call /v1 with the same key. */
export function mcpApi(needs: RestNeeds, rest: OpenAPIHono<ApiEnv>) {
  const mcp = createApi()
  mcp.onError(answerApiFailure)
  mcp.use(logRequests)
  mcp.use(requirePost) // 405
  mcp.use(requireKey(needs)) // 403 for a page of another site, 401
  mcp.use(createGuard(needs)) // 401, 403 for the plan, 429
  mcp.use(jsonBody(() => 'object')) // 400, 413, 415
  mcp.post('/mcp', createMcpEndpoint({ ...needs, callApi: rest.fetch }))
  return mcp
}

/** The handlers of this file's routes, and the lists of their routes. */
export function createLaterHandlers(needs: LaterNeeds) {
  const rest = restApi(
    needs.api,
    FEATURES.map((create) => create(needs.api)),
  )
  const signIn = createAuthEndpoints(needs.signIn)
  const mail = createMailRoutes(needs.mailRoutes)
  const doctor = createDoctorRoutes(needs.doctorRoutes)
  return {
    api: onSocket(rest),
    mcp: onSocket(mcpApi(needs.api, rest)),
    sharedView: createSharedViews(needs.sharedViews),
    signIn: signIn.answer,
    mail: mail.answer,
    doctor: doctor.answer,
    routes: { rest: rest.routes, signIn: signIn.routes, mail: mail.routes, doctor: doctor.routes },
  }
}
