-- What each owner has waiting, and the longest due pull of each.
create index pull_of_owner on catalog.pull (owner, due_at);
