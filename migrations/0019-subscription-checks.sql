-- When the discovery service next looks whether a subscription is still ACTIVE: every hour, and as soon as something lets it doubt. Nothing binds the
-- signature of a DELETE to its address, so that whoever has seen one may have deactivated it. Null: at once.
alter table discovery.feed add column check_at timestamptz;
