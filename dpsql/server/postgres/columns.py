"""The columns of PostgreSQL's system tables that clients ask for: name and kind, in PostgreSQL 16's order.

Tests: tests/unit/server/postgres.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["INFORMATION", "KINDS", "SYSTEM"]

KINDS: Mapping[str, str] = {
    "o": "UINTEGER", "v": "VARCHAR", "b": "BOOLEAN", "i": "INTEGER", "s": "SMALLINT", "l": "BIGINT", "f": "FLOAT",
    "t": "TIMESTAMP", "a": "VARCHAR[]", "n": "INTEGER[]",
}  # fmt: skip
"""The types of columns by letters: o is an oid."""

SYSTEM: Mapping[str, str] = {
    "pg_namespace": "oid o,nspname v,nspowner o,nspacl a",
    "pg_roles": (
        "oid o,rolname v,rolsuper b,rolinherit b,rolcreaterole b,rolcreatedb b,rolcanlogin b,"
        "rolreplication b,rolconnlimit i,rolpassword v,rolvaliduntil t,rolbypassrls b,rolconfig a"
    ),
    "pg_database": (
        "oid o,datname v,datdba o,encoding i,datlocprovider v,datistemplate b,datallowconn b,datconnlimit i,"
        "datfrozenxid o,datminmxid o,dattablespace o,datcollate v,datctype v,daticulocale v,datlocale v,"
        "daticurules v,datcollversion v,datacl a"
    ),
    "pg_tablespace": "oid o,spcname v,spcowner o,spcacl a,spcoptions a",
    "pg_am": "oid o,amname v,amhandler v,amtype v",
    "pg_language": (
        "oid o,lanname v,lanowner o,lanispl b,lanpltrusted b,lanplcallfoid o,laninline o,lanvalidator o,lanacl a"
    ),
    "pg_collation": (
        "oid o,collname v,collnamespace o,collowner o,collprovider v,collisdeterministic b,collencoding i,"
        "collcollate v,collctype v,colliculocale v,collicurules v,collversion v"
    ),
    "pg_type": (
        "oid o,typname v,typnamespace o,typowner o,typlen s,typbyval b,typtype v,typcategory v,"
        "typispreferred b,typisdefined b,typdelim v,typrelid o,typsubscript v,typelem o,typarray o,"
        "typinput v,typoutput v,typreceive v,typsend v,typmodin v,typmodout v,typanalyze v,typalign v,"
        "typstorage v,typnotnull b,typbasetype o,typtypmod i,typndims i,typcollation o,typdefaultbin v,"
        "typdefault v,typacl a"
    ),
    "pg_class": (
        "oid o,relname v,relnamespace o,reltype o,reloftype o,relowner o,relam o,relfilenode o,"
        "reltablespace o,relpages i,reltuples f,relallvisible i,reltoastrelid o,relhasindex b,relisshared b,"
        "relpersistence v,relkind v,relnatts s,relchecks s,relhasrules b,relhastriggers b,relhassubclass b,"
        "relrowsecurity b,relforcerowsecurity b,relispopulated b,relreplident v,relispartition b,"
        "relrewrite o,relfrozenxid o,relminmxid o,relacl a,reloptions a,relpartbound v"
    ),
    "pg_attribute": (
        "attrelid o,attname v,atttypid o,attlen s,attnum s,attcacheoff i,atttypmod i,attndims s,attbyval b,"
        "attalign v,attstorage v,attcompression v,attnotnull b,atthasdef b,atthasmissing b,attidentity v,"
        "attgenerated v,attisdropped b,attislocal b,attinhcount s,attstattarget s,attcollation o,attacl a,"
        "attoptions a,attfdwoptions a,attmissingval v"
    ),
    "pg_description": "objoid o,classoid o,objsubid i,description v",
    "pg_shdescription": "objoid o,classoid o,description v",
    "pg_attrdef": "oid o,adrelid o,adnum s,adbin v",
    "pg_index": (
        "indexrelid o,indrelid o,indnatts s,indnkeyatts s,indisunique b,indnullsnotdistinct b,indisprimary b,"
        "indisexclusion b,indimmediate b,indisclustered b,indisvalid b,indcheckxmin b,indisready b,"
        "indislive b,indisreplident b,indkey n,indcollation n,indclass n,indoption n,indexprs v,indpred v"
    ),
    "pg_constraint": (
        "oid o,conname v,connamespace o,contype v,condeferrable b,condeferred b,convalidated b,conrelid o,"
        "contypid o,conindid o,conparentid o,confrelid o,confupdtype v,confdeltype v,confmatchtype v,"
        "conislocal b,coninhcount s,connoinherit b,conkey n,confkey n,conpfeqop n,conppeqop n,conffeqop n,"
        "confdelsetcols n,conexclop n,conbin v"
    ),
    "pg_inherits": "inhrelid o,inhparent o,inhseqno i,inhdetachpending b",
    "pg_policy": "oid o,polname v,polrelid o,polcmd v,polpermissive b,polroles n,polqual v,polwithcheck v",
    "pg_policies": "schemaname v,tablename v,policyname v,permissive v,roles a,cmd v,qual v,with_check v",
    "pg_publication": (
        "oid o,pubname v,pubowner o,puballtables b,pubinsert b,pubupdate b,pubdelete b,pubtruncate b,pubviaroot b"
    ),
    "pg_publication_rel": "oid o,prpubid o,prrelid o,prqual v,prattrs n",
    "pg_publication_namespace": "oid o,pnpubid o,pnnspid o",
    "pg_publication_tables": "pubname v,schemaname v,tablename v,attnames a,rowfilter v",
    "pg_subscription": "oid o,subname v,subowner o,subenabled b",
    "pg_statistic_ext": (
        "oid o,stxrelid o,stxname v,stxnamespace o,stxowner o,stxstattarget i,stxkeys n,stxkind a,stxexprs v"
    ),
    "pg_extension": (
        "oid o,extname v,extowner o,extnamespace o,extrelocatable b,extversion v,extconfig n,extcondition a"
    ),
    "pg_available_extensions": "name v,default_version v,installed_version v,comment v",
    "pg_replication_slots": "slot_name v,plugin v,slot_type v,datoid o,database v,active b",
    "pg_enum": "oid o,enumtypid o,enumsortorder f,enumlabel v",
    "pg_range": "rngtypid o,rngsubtype o,rngmultitypid o,rngcollation o,rngsubopc o,rngcanonical v,rngsubdiff v",
    "pg_proc": (
        "oid o,proname v,pronamespace o,proowner o,prolang o,procost f,prorows f,provariadic o,prosupport v,"
        "prokind v,prosecdef b,proleakproof b,proisstrict b,proretset b,provolatile v,proparallel v,"
        "pronargs s,pronargdefaults s,prorettype o,proargtypes n,proallargtypes n,proargmodes a,"
        "proargnames a,proargdefaults v,protrftypes n,prosrc v,probin v,prosqlbody v,proconfig a,proacl a"
    ),
    "pg_aggregate": "aggfnoid o,aggkind v,aggnumdirectargs s",
    "pg_trigger": (
        "oid o,tgrelid o,tgparentid o,tgname v,tgfoid o,tgtype s,tgenabled v,tgisinternal b,tgconstrrelid o,"
        "tgconstrindid o,tgconstraint o,tgdeferrable b,tginitdeferred b,tgnargs s,tgattr n,tgargs v,tgqual v,"
        "tgoldtable v,tgnewtable v"
    ),
    "pg_event_trigger": "oid o,evtname v,evtevent v,evtowner o,evtfoid o,evtenabled v,evttags a",
    "pg_rewrite": "oid o,rulename v,ev_class o,ev_type v,ev_enabled v,is_instead b,ev_qual v,ev_action v",
    "pg_rules": "schemaname v,tablename v,rulename v,definition v",
    "pg_depend": "classid o,objid o,objsubid i,refclassid o,refobjid o,refobjsubid i,deptype v",
    "pg_shdepend": "dbid o,classid o,objid o,objsubid i,refclassid o,refobjid o,deptype v",
    "pg_foreign_table": "ftrelid o,ftserver o,ftoptions a",
    "pg_foreign_server": "oid o,srvname v,srvowner o,srvfdw o,srvtype v,srvversion v,srvacl a,srvoptions a",
    "pg_foreign_data_wrapper": "oid o,fdwname v,fdwowner o,fdwhandler o,fdwvalidator o,fdwacl a,fdwoptions a",
    "pg_user_mapping": "oid o,umuser o,umserver o,umoptions a",
    "pg_user_mappings": "umid o,srvid o,srvname v,umuser o,usename v,umoptions a",
    "pg_sequence": "seqrelid o,seqtypid o,seqstart l,seqincrement l,seqmax l,seqmin l,seqcache l,seqcycle b",
    "pg_sequences": (
        "schemaname v,sequencename v,sequenceowner v,data_type v,start_value l,min_value l,max_value l,"
        "increment_by l,cycle b,cache_size l,last_value l"
    ),
    "pg_partitioned_table": (
        "partrelid o,partstrat v,partnatts s,partdefid o,partattrs n,partclass n,partcollation n,partexprs v"
    ),
    "pg_operator": (
        "oid o,oprname v,oprnamespace o,oprowner o,oprkind v,oprcanmerge b,oprcanhash b,oprleft o,oprright o,"
        "oprresult o,oprcom o,oprnegate o,oprcode o,oprrest o,oprjoin o"
    ),
    "pg_opclass": (
        "oid o,opcmethod o,opcname v,opcnamespace o,opcowner o,opcfamily o,opcintype o,opcdefault b,opckeytype o"
    ),
    "pg_opfamily": "oid o,opfmethod o,opfname v,opfnamespace o,opfowner o",
    "pg_cast": "oid o,castsource o,casttarget o,castfunc o,castcontext v,castmethod v",
    "pg_conversion": (
        "oid o,conname v,connamespace o,conowner o,conforencoding i,contoencoding i,conproc v,condefault b"
    ),
    "pg_auth_members": "oid o,roleid o,member o,grantor o,admin_option b,inherit_option b,set_option b",
    "pg_default_acl": "oid o,defaclrole o,defaclnamespace o,defaclobjtype v,defaclacl a",
    "pg_seclabel": "objoid o,classoid o,objsubid i,provider v,label v",
    "pg_seclabels": "objoid o,classoid o,objsubid i,objtype v,objnamespace o,objname v,provider v,label v",
    "pg_shseclabel": "objoid o,classoid o,provider v,label v",
    "pg_db_role_setting": "setdatabase o,setrole o,setconfig a",
    "pg_matviews": "schemaname v,matviewname v,matviewowner v,tablespace v,hasindexes b,ispopulated b,definition v",
    "pg_views": "schemaname v,viewname v,viewowner v,definition v",
    "pg_indexes": "schemaname v,tablename v,indexname v,tablespace v,indexdef v",
    "pg_stats": "schemaname v,tablename v,attname v,inherited b,null_frac f,avg_width i,n_distinct f",
    "pg_locks": "locktype v,database o,relation o,pid i,mode v,granted b",
    "pg_stat_activity": (
        "datid o,datname v,pid i,usesysid o,usename v,application_name v,client_addr v,backend_start t,"
        "state v,query v,backend_type v"
    ),
    "pg_stat_user_tables": (
        "relid o,schemaname v,relname v,seq_scan l,n_live_tup l,n_dead_tup l,last_vacuum t,last_analyze t"
    ),
    "pg_stat_database": (
        "datid o,datname v,numbackends i,xact_commit l,xact_rollback l,blks_read l,blks_hit l,tup_returned l,"
        "tup_fetched l,tup_inserted l,tup_updated l,tup_deleted l"
    ),
    "pg_prepared_xacts": "transaction v,gid v,prepared t,owner v,database v",
    "pg_prepared_statements": "name v,statement v,prepare_time t,from_sql b",
    "pg_cursors": "name v,statement v,is_holdable b,is_binary b,is_scrollable b,creation_time t",
    "pg_timezone_names": "name v,abbrev v,is_dst b",
    "pg_ts_config": "oid o,cfgname v,cfgnamespace o,cfgowner o,cfgparser o",
    "pg_ts_dict": "oid o,dictname v,dictnamespace o,dictowner o,dicttemplate o,dictinitoption v",
    "pg_ts_parser": "oid o,prsname v,prsnamespace o",
    "pg_ts_template": "oid o,tmplname v,tmplnamespace o",
    "pg_largeobject_metadata": "oid o,lomowner o,lomacl a",
    "pg_settings": (
        "name v,setting v,unit v,category v,short_desc v,extra_desc v,context v,vartype v,source v,min_val v,"
        "max_val v,enumvals a,boot_val v,reset_val v,sourcefile v,sourceline i,pending_restart b"
    ),
}
"""The tables of pg_catalog."""

INFORMATION: Mapping[str, str] = {
    "views": (
        "table_catalog v,table_schema v,table_name v,view_definition v,check_option v,is_updatable v,"
        "is_insertable_into v"
    ),
    "table_constraints": (
        "constraint_catalog v,constraint_schema v,constraint_name v,table_catalog v,table_schema v,"
        "table_name v,constraint_type v,is_deferrable v,initially_deferred v,enforced v"
    ),
    "key_column_usage": (
        "constraint_catalog v,constraint_schema v,constraint_name v,table_catalog v,table_schema v,"
        "table_name v,column_name v,ordinal_position i,position_in_unique_constraint i"
    ),
    "constraint_column_usage": (
        "table_catalog v,table_schema v,table_name v,column_name v,constraint_catalog v,constraint_schema v,"
        "constraint_name v"
    ),
    "referential_constraints": (
        "constraint_catalog v,constraint_schema v,constraint_name v,unique_constraint_catalog v,"
        "unique_constraint_schema v,unique_constraint_name v,match_option v,update_rule v,delete_rule v"
    ),
    "check_constraints": "constraint_catalog v,constraint_schema v,constraint_name v,check_clause v",
    "routines": (
        "specific_catalog v,specific_schema v,specific_name v,routine_catalog v,routine_schema v,"
        "routine_name v,routine_type v,data_type v,routine_definition v"
    ),
    "parameters": (
        "specific_catalog v,specific_schema v,specific_name v,ordinal_position i,parameter_mode v,"
        "parameter_name v,data_type v"
    ),
    "sequences": "sequence_catalog v,sequence_schema v,sequence_name v,data_type v,start_value v,increment v",
    "triggers": (
        "trigger_catalog v,trigger_schema v,trigger_name v,event_manipulation v,event_object_schema v,"
        "event_object_table v,action_statement v,action_timing v"
    ),
    "role_table_grants": (
        "grantor v,grantee v,table_catalog v,table_schema v,table_name v,privilege_type v,is_grantable v"
    ),
    "column_privileges": (
        "grantor v,grantee v,table_catalog v,table_schema v,table_name v,column_name v,privilege_type v,is_grantable v"
    ),
    "character_sets": "character_set_catalog v,character_set_schema v,character_set_name v,default_collate_name v",
    "domains": "domain_catalog v,domain_schema v,domain_name v,data_type v",
    "enabled_roles": "role_name v",
}
"""The tables of information_schema that are empty; the others are views."""
