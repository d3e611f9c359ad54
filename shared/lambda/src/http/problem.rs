use lambda_http::http::StatusCode;

/// Declares [`Problem`]: for each kind its status, its code and its sentence, and where it has one, the input to blame.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = $status:ident $code:literal $sentence:literal $(in $field:literal)?;)*) => {
        /// A kind of problem that a client can be told about.
        ///
        /// The code is for programs, and part of the contract: a code keeps its meaning. The sentence is for people, and may
        /// change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Problem {
            $($(#[$doc])* $name,)*
        }

        impl Problem {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The stable word for programs.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The problem type of RFC 9457, a URN with the code at its end.
            pub fn urn(self) -> &'static str {
                match self {
                    $(Self::$name => concat!("urn:linklet:problem:", $code),)*
                }
            }

            /// The HTTP status.
            pub fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                }
            }

            /// The sentence for people, unless the request calls for a more precise one.
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)*
                }
            }

            /// The input that is always to blame for a problem of this kind.
            pub fn field(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => problems!(@field $($field)?),)*
                }
            }
        }
    };
    (@field) => { None };
    (@field $field:literal) => { Some($field) };
}

problems! {
    /// The body is no JSON object.
    InvalidBody = BAD_REQUEST "invalid_body" "invalid request body";
    /// A member, parameter or header breaks a rule. The sentence names the rule.
    InvalidInput = BAD_REQUEST "invalid_input" "the request is invalid";
    /// The query has a parameter that the operation doesn't have.
    UnknownParameter = BAD_REQUEST "unknown_parameter" "the query has a parameter that isn't known here";
    /// A range of days is longer than this caller may have it.
    RangeTooLong = BAD_REQUEST "range_too_long" "the range of days is too long" in "from";
    /// Rules and variants take more space than a link has for them.
    RulesTooLarge = BAD_REQUEST "rules_too_large" "rules and variants must have at most 3 KB together" in "rules";
    /// The token or API key is missing or invalid.
    Unauthorized = UNAUTHORIZED "unauthorized" "unauthorized";
    /// A login failed. The response doesn't reveal why.
    InvalidCredentials = UNAUTHORIZED "invalid_credentials" "invalid credentials";
    /// The thing belongs to another workspace, or to somebody else in it.
    Forbidden = FORBIDDEN "forbidden" "forbidden";
    /// The caller's role is too low.
    RoleTooLow = FORBIDDEN "role_too_low" "your role does not allow this";
    /// The API key lacks the scope.
    ScopeMissing = FORBIDDEN "scope_missing" "the API key lacks the scope for this";
    /// The route is for people, and the request has an API key.
    TokenRequired = FORBIDDEN "token_required" "this doesn't take API keys; sign in and send the token instead";
    /// Only who is invited may register, or not with this address.
    RegistrationClosed = FORBIDDEN "registration_closed" "registering with this address needs an invitation";
    /// Only others may create workspaces.
    CreationClosed = FORBIDDEN "creation_closed" "you can't create workspaces here; ask the operator";
    /// The token is for somebody without a workspace.
    NoWorkspace = FORBIDDEN "no_workspace" "you're not in a workspace; accept an invitation first";
    /// The page that has sent the request is not one of the API's own.
    ForeignPage = FORBIDDEN "foreign_page" "only pages of this address may do this";
    /// The address must be verified first.
    AddressUnverified = FORBIDDEN "address_unverified" "verify your email first; we sent you a link";
    /// What can't be undone needs a proof.
    ProofRequired = FORBIDDEN "proof_required" "confirm your identity: send your password, or sign in at your identity provider again";
    /// Nobody signs in by password here.
    PasswordLoginOff = FORBIDDEN "password_login_off" "passwords are off here; sign in at your identity provider";
    /// The destinations of the workspace's links are fixed.
    DestinationFixed =
        FORBIDDEN "destination_fixed" "destinations are locked in this workspace; create another link";
    /// Visitors have to know the link's password.
    LinkPasswordRequired = FORBIDDEN "link_password_required" "this link needs a password";
    /// Somebody has sent another password than the link's.
    LinkPasswordWrong = FORBIDDEN "link_password_wrong" "this is not the link's password" in "password";
    /// Visitors of shared statistics have to know the password.
    SharePasswordRequired = FORBIDDEN "share_password_required" "these statistics need a password";
    /// Somebody has sent another password than the share's.
    SharePasswordWrong = FORBIDDEN "share_password_wrong" "this is not the password of these statistics" in "X-Share-Password";
    /// No function has such a route.
    RouteUnknown = NOT_FOUND "route_unknown" "there is nothing at this address";
    /// The path has other methods. `Allow` lists them.
    MethodNotAllowed = METHOD_NOT_ALLOWED "method_not_allowed" "this address doesn't support this method";
    /// No link that the caller may change has the tag.
    TagNotFound = NOT_FOUND "tag_not_found" "no link that you can change has this tag";
    /// There is no such link or target.
    NotFound = NOT_FOUND "not_found" "not found";
    /// The token's workspace doesn't exist.
    WorkspaceNotFound = NOT_FOUND "workspace_not_found" "this workspace does not exist";
    /// Nobody with this id is a member. It is the same for former members, who aren't stored.
    MemberNotFound = NOT_FOUND "member_not_found" "the workspace has no member with this id";
    /// An invitation can't be accepted. The response doesn't reveal why.
    InvitationInvalid =
        NOT_FOUND "invitation_invalid" "this invitation does not exist, was used, has expired, or is for another address";
    /// A one-time token can't be used. The answer doesn't say why.
    TokenInvalid = NOT_FOUND "token_invalid" "this token does not exist, was used, or has expired" in "token";
    /// A share shows nothing to this request. The answer doesn't say why.
    ShareNotFound = NOT_FOUND "share_not_found" "these statistics are not shared, or no longer";
    /// There is no such API key.
    ApiKeyNotFound = NOT_FOUND "api_key_not_found" "the workspace has no API key with this prefix";
    /// A custom code is taken.
    ShortCodeTaken = CONFLICT "short_code_taken" "short code already taken" in "custom_code";
    /// An address is registered.
    EmailTaken = CONFLICT "email_taken" "email already registered" in "email";
    /// Another link of the workspace has the external id.
    ExternalIdTaken = CONFLICT "external_id_taken" "another link of the workspace has this external_id" in "external_id";
    /// Another workspace has the slug.
    SlugTaken = CONFLICT "slug_taken" "slug is already taken" in "slug";
    /// The person is a member.
    AlreadyMember = CONFLICT "already_member" "this person is already a member of the workspace";
    /// The workspace has as many open invitations as it may have.
    InvitationLimit = CONFLICT "invitation_limit" "the workspace has 100 pending invitations; withdraw one first";
    /// The change would leave a workspace without an admin.
    LastAdmin = CONFLICT "last_admin" "the workspace needs at least one admin";
    /// Nobody could sign in to the account any more.
    LastSignIn = CONFLICT "last_sign_in" "you could no longer sign in; set up another way first";
    /// The caller is closing their account.
    AccountClosing = CONFLICT "account_closing" "your account is being closed; you can no longer join a workspace";
    /// The workspace isn't closed.
    WorkspaceOpen = CONFLICT "workspace_open" "this workspace is open";
    /// The person gets as many reports of the workspace as they may.
    ReportLimit = CONFLICT "report_limit" "you get 20 reports of this workspace; stop one first";
    /// The workspace has as many API keys as it may have.
    TooManyApiKeys = CONFLICT "too_many_api_keys" "the workspace has 100 API keys; revoke one first";
    /// The workspace has as many shares as it may have.
    TooManyShares = CONFLICT "too_many_shares" "the workspace shares statistics 100 times; end one first";
    /// An API key can't be rotated.
    ApiKeyNotRotatable =
        CONFLICT "api_key_not_rotatable" "the key is paused, expired or already rotated, or five keys of its rotation work";
    /// The person is a member of as many workspaces as one may be.
    WorkspaceLimit =
        CONFLICT "workspace_limit" "you are a member of 20 workspaces; leave one first";
    /// The workspace has as many targets as it may have.
    TargetQuotaReached =
        CONFLICT "target_quota_reached" "this workspace or its creator has reached the limit of monitored URLs; delete a target first";
    /// Links watch the target that is to be deleted.
    TargetWatched = CONFLICT "target_watched" "links watch this target; delete them first";
    /// As many jobs of the workspace wait as may.
    TooManyJobs = CONFLICT "too_many_jobs" "two of your jobs or four of this workspace are queued; try again when one has finished";
    /// The time in which a closed workspace can be brought back is over.
    WorkspaceGone = GONE "workspace_gone" "this workspace can no longer be restored";
    /// The link has expired.
    LinkExpired = GONE "link_expired" "this link has expired";
    /// The link was deleted and keeps its statistics.
    LinkDeleted = GONE "link_deleted" "this link was deleted";
    /// The link was purged, with its statistics.
    LinkPurged = GONE "link_purged" "this link was purged with its statistics";
    /// The link doesn't redirect yet.
    LinkScheduled = GONE "link_scheduled" "this link is not active yet";
    /// The link was used as often as it may be.
    LinkExhausted = GONE "link_exhausted" "this link has reached its click limit";
    /// Something other than the link's people keeps it from leading anywhere.
    LinkSuspended = GONE "link_suspended" "this link is not available at the moment";
    /// The law asks for it that the link leads nowhere (RFC 7725).
    LinkWithheld = UNAVAILABLE_FOR_LEGAL_REASONS "link_withheld" "this link is not available for legal reasons";
    /// An operator has blocked the host that the link would lead to.
    DestinationBlocked = FORBIDDEN "destination_blocked" "an operator has blocked this destination";
    /// An operator has suspended the workspace.
    WorkspaceBlocked = FORBIDDEN "workspace_suspended" "an operator has suspended this workspace; its links don't redirect, and it can't get new ones";
    /// The link is switched off.
    LinkInactive = GONE "link_inactive" "this link is disabled";
    /// What is to be changed has another revision than the one in `If-Match`.
    PreconditionFailed =
        PRECONDITION_FAILED "precondition_failed" "this has changed since you read it; read it again" in "If-Match";
    /// The body is larger than the route takes.
    BodyTooLarge = PAYLOAD_TOO_LARGE "body_too_large" "request body too large";
    /// The body is compressed or encoded in another way.
    EncodingUnsupported =
        UNSUPPORTED_MEDIA_TYPE "encoding_unsupported" "the request body must not be compressed or encoded" in "Content-Encoding";
    /// The body isn't declared as JSON, where that tells a program from a form on a page of another site.
    JsonRequired = UNSUPPORTED_MEDIA_TYPE "json_required" "the request body must be application/json" in "Content-Type";
    /// Another request had the same idempotency key.
    IdempotencyKeyReused =
        UNPROCESSABLE_ENTITY "idempotency_key_reused" "Idempotency-Key was used with another request" in "Idempotency-Key";
    /// A URL can't be followed to where it leads. The sentence says what is wrong.
    UrlUnreachable = UNPROCESSABLE_ENTITY "url_unreachable" "this URL couldn't be followed" in "url";
    /// The client has reached a rate limit.
    RateLimited = TOO_MANY_REQUESTS "rate_limited" "rate limit exceeded";
    /// The client has guessed wrong too often, or too many passwords are to be checked at once.
    TooManyAttempts = TOO_MANY_REQUESTS "too_many_attempts" "too many attempts; try again later";
    /// A bug, or the failure of a service without which the request can't be processed.
    Internal = INTERNAL_SERVER_ERROR "internal_error" "internal server error";
    /// A table can't be reached.
    ServiceUnavailable = SERVICE_UNAVAILABLE "service_unavailable" "service unavailable";
    /// An identity provider can't be asked.
    ProviderUnavailable = SERVICE_UNAVAILABLE "provider_unavailable" "the identity provider could not be reached; try again later";
    /// Each code that was generated is taken.
    NoFreeCode = SERVICE_UNAVAILABLE "no_free_code" "could not generate unique code; try again";
    /// Other requests for the same thing got in the way again and again, or a request about many links had no time left for this one.
    TryAgain = SERVICE_UNAVAILABLE "try_again" "this could not be done right now; try again";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_problem_has_its_own_code_at_the_end_of_its_urn() {
        let codes: BTreeSet<&str> = Problem::ALL.iter().map(|problem| problem.code()).collect();

        assert_eq!(codes.len(), Problem::ALL.len());
        for problem in Problem::ALL {
            assert_eq!(problem.urn(), format!("urn:linklet:problem:{}", problem.code()));
            assert!(problem.status().is_client_error() || problem.status().is_server_error(), "{problem:?}");
        }
    }
}
